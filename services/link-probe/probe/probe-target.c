/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/link-probe/probe/probe-target.h"

int ald_probe_target_set(AldProbeTarget *target, const AldProbeKind *kind, const char *peer,
        const char *address, const char *interface)
{
        *target = (AldProbeTarget){ .kind = kind };
        if (g_strlcpy(target->peer, peer, sizeof target->peer) >= sizeof target->peer ||
                g_strlcpy(target->address, address, sizeof target->address) >= sizeof target->address ||
                g_strlcpy(target->interface, interface ?: "", sizeof target->interface) >=
                        sizeof target->interface)
                return -EINVAL;
        return 0;
}

int ald_probe_target_set_ports(AldProbeTarget *target, const char *source_port, const char *sink_port)
{
        if (!ald_port_name_ok(source_port) || !ald_port_name_ok(sink_port))
                return -EINVAL;
        g_strlcpy(target->source_port, source_port, sizeof target->source_port);
        g_strlcpy(target->sink_port, sink_port, sizeof target->sink_port);
        return 0;
}

AldProbeTarget ald_probe_target_copy(const AldProbeTarget *target)
{
        AldProbeTarget copy = *target;

        copy.device = g_strdup(target->device);
        copy.driver_version = g_strdup(target->driver_version);
        copy.arguments = g_strdupv(target->arguments);
        return copy;
}

void ald_probe_target_clear(AldProbeTarget *target)
{
        g_clear_pointer(&target->device, g_free);
        g_clear_pointer(&target->driver_version, g_free);
        g_clear_pointer(&target->arguments, g_strfreev);
}

static void clear_target(gpointer target)
{
        ald_probe_target_clear(target);
}

GArray *ald_probe_targets_new(void)
{
        GArray *targets = g_array_new(FALSE, FALSE, sizeof(AldProbeTarget));

        g_array_set_clear_func(targets, clear_target);
        return targets;
}

const char *ald_probe_target_name(const AldProbeTarget *target)
{
        return target->device ?: target->address;
}
