/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

/*
 * Writes g_warning() and similar messages to the journal with their fields if stderr is the journal, else to
 * stderr as text. ALIDADE_LOG_LEVEL sets the initial level, with the names of syslog.
 */
typedef struct AldLog AldLog;

/* Installs the log writer. GLib accepts only one per process, so call it once, and never free the result. */
AldLog *ald_log_install(const char *identifier);

/* Exports org.freedesktop.LogControl1, so that `systemctl service-log-level` works. */
int ald_log_export(AldLog *log, sd_bus *bus);
