/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

/*
 * Where g_warning() and its kin go: to the journal with their fields where stderr is the journal, to stderr
 * as text when run by hand. ALIDADE_LOG_LEVEL sets the first level, in the words of syslog.
 */
typedef struct AldLog AldLog;

/* GLib takes one log writer in the life of a process: call once, and keep the result for good. */
AldLog *ald_log_install(const char *identifier);

/* Exports org.freedesktop.LogControl1, so that `systemctl service-log-level` works. */
int ald_log_export(AldLog *log, sd_bus *bus);
