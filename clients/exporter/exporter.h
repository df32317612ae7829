/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "common/config.h"

/* Answers requests for metrics on all sockets. */
typedef struct AldExporter AldExporter;

/* Calls `ready` once, when the sockets are answered: after the first reading of the state, or when it failed.
 * Takes no ownership of the sockets, an array of int. Returns a negative errno, logged: -EBADMSG if the
 * configuration, or a file that it names, must be corrected first. */
int ald_exporter_new(const AldConfig *config, const GArray *fds, void (*ready)(void *userdata),
        void *userdata, AldExporter **ret);
void ald_exporter_free(AldExporter *exporter);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldExporter, ald_exporter_free)

/* Applies the token, certificate and key of a new configuration, on the same sockets. If that fails,
 * everything stays as it is, and a negative errno is returned, logged. */
int ald_exporter_reload(AldExporter *exporter, const AldConfig *config);
