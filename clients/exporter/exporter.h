/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "common/config.h"

/* Answers requests for metrics on all sockets. */
typedef struct AldExporter AldExporter;

/* `ready` is called once, when the sockets are answered: after the first reading of the state, or when it
 * failed. Takes no ownership of the sockets, an array of int. Negative errno, logged: -EBADMSG if the
 * configuration, or a file that it names, must be mended first. */
int ald_exporter_new(const AldConfig *config, const GArray *fds, void (*ready)(void *userdata),
        void *userdata, AldExporter **ret);
void ald_exporter_free(AldExporter *exporter);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldExporter, ald_exporter_free)

/* Takes over token, certificate and key, which the new configuration names, on the same sockets. If it
 * cannot, all stays as it is, and the negative errno is returned, logged. */
int ald_exporter_reload(AldExporter *exporter, const AldConfig *config);
