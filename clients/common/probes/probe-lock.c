/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>

#include "clients/common/probes/probe-lock.h"
#include "common/bus-cleanup.h"
#include "common/bus-names.h"

int ald_probe_lock_make(sd_bus *bus, const void *data, sd_bus_message **ret)
{
        const AldProbeLockCall *lock = data;
        g_autoptr(AldMessage) call = NULL;
        int r = sd_bus_message_new_method_call(
                bus, &call, ALD_LINK_PROBE_NAME, ALD_LINK_PROBE_PATH, ALD_LINK_PROBE_INTERFACE, "Inhibit");

        if (r >= 0)
                r = sd_bus_message_append(call, "sss", lock->what, lock->who, lock->why);
        if (r >= 0)
                *ret = g_steal_pointer(&call);
        return r;
}

int ald_probe_lock_take(sd_bus_message *reply)
{
        int fd, r = sd_bus_message_read(reply, "h", &fd);

        if (r < 0)
                return r;
        fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        return fd < 0 ? -errno : fd;
}
