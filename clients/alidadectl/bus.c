/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clients/alidadectl/bus.h"
#include "clients/alidadectl/print.h"

#define ADDRESS_VARIABLE "ALIDADE_BUS_ADDRESS"

static int open_address(const char *address, sd_bus **ret)
{
        g_autoptr(sd_bus) bus = NULL;
        int r;

        r = sd_bus_new(&bus);
        if (r >= 0)
                r = sd_bus_set_address(bus, address);
        if (r >= 0)
                r = sd_bus_set_bus_client(bus, true);
        if (r >= 0)
                r = sd_bus_start(bus);
        if (r >= 0)
                *ret = g_steal_pointer(&bus);
        return r;
}

/* Waits for the bus to greet us, so that a bus that cannot be used is noticed here. */
static int await_name(sd_bus *bus)
{
        const char *name;

        return sd_bus_get_unique_name(bus, &name);
}

int ald_bus_open(const AldCtl *ctl, sd_bus **ret)
{
        const char *address = getenv(ADDRESS_VARIABLE);
        g_autoptr(sd_bus) bus = NULL;
        int r;

        if (ctl->host)
                r = sd_bus_open_system_remote(&bus, ctl->host);
        else if (address && address[0])
                r = open_address(address, &bus);
        else
                r = sd_bus_open_system(&bus);
        if (r >= 0)
                r = await_name(bus);
        if (r < 0) {
                const char *where = ctl->host               ? ctl->host
                                    : address && address[0] ? address
                                                            : "the system bus";

                ald_complain("Cannot connect to %s: %s", where, strerror(-r));
                return r == -EACCES || r == -EPERM ? ALD_EXIT_DENIED : ALD_EXIT_UNREACHABLE;
        }
        *ret = g_steal_pointer(&bus);
        return ALD_EXIT_OK;
}

int ald_bus_exit_code(const sd_bus_error *error)
{
        static const struct {
                const char *name;
                int code;
        } codes[] = {
                { SD_BUS_ERROR_SERVICE_UNKNOWN, ALD_EXIT_UNREACHABLE },
                { SD_BUS_ERROR_NAME_HAS_NO_OWNER, ALD_EXIT_UNREACHABLE },
                { SD_BUS_ERROR_NO_REPLY, ALD_EXIT_UNREACHABLE },
                { SD_BUS_ERROR_TIMEOUT, ALD_EXIT_UNREACHABLE },
                { SD_BUS_ERROR_DISCONNECTED, ALD_EXIT_UNREACHABLE },
                { "org.freedesktop.DBus.Error.TimedOut", ALD_EXIT_UNREACHABLE },
                { "org.freedesktop.systemd1.NoSuchUnit", ALD_EXIT_UNREACHABLE },
                { SD_BUS_ERROR_ACCESS_DENIED, ALD_EXIT_DENIED },
                { SD_BUS_ERROR_AUTH_FAILED, ALD_EXIT_DENIED },
                { SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED, ALD_EXIT_DENIED },
                { "org.alidade.Error.NoSuchNode", ALD_EXIT_NO_NODE },
                { "org.alidade.Error.AmbiguousName", ALD_EXIT_NO_NODE },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(codes); i++)
                if (sd_bus_error_has_name(error, codes[i].name))
                        return codes[i].code;
        if (error->name && g_str_has_prefix(error->name, "org.freedesktop.DBus.Error.Spawn."))
                return ALD_EXIT_UNREACHABLE;
        switch (sd_bus_error_get_errno(error)) {
        case ECONNRESET:
        case ENOTCONN:
        case ESHUTDOWN:
        case EPIPE:
                return ALD_EXIT_UNREACHABLE;
        default:
                return ALD_EXIT_ERROR;
        }
}

int ald_bus_complain(const sd_bus_error *error, const char *what)
{
        const char *why = error->message ? error->message : error->name ? error->name : "unknown error";

        ald_complain("%s: %s", what, why);
        return ald_bus_exit_code(error);
}
