/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "clients/command-line/bus.h"
#include "clients/command-line/print.h"
#include "common/error-names.h"
#include "state-client/follow.h"

static void print_problem_of_host(const char *host, int r)
{
        if (r == -ETIMEDOUT)
                ald_print_error("Cannot reach %s: no answer", host);
        else
                ald_print_error("Cannot reach the bus of %s: ssh failed, see its message. The other machine "
                                "needs an account for you, and systemd-stdio-bridge",
                        host);
}

static void print_problem_of_bus(const char *where, int r)
{
        if (r == -ETIMEDOUT)
                ald_print_error("Cannot connect to %s: no answer; it is stopped or overloaded", where);
        else
                ald_print_error("Cannot connect to %s: %s", where, strerror(-r));
}

static void on_notice(void *userdata)
{
        ald_print_error("Waiting for %s", (const char *) userdata);
}

int ald_bus_check_host(const AldCtl *ctl)
{
        if (!ctl->host || ald_connection_is_host(ctl->host))
                return ALD_EXIT_OK;
        ald_print_error("\"%s\" is not a host; -H takes [USER@]HOST[:PORT]", ctl->host);
        return ALD_EXIT_USAGE;
}

int ald_bus_open(const AldCtl *ctl, sd_bus **ret)
{
        const char *place = ald_connection_place(ctl->host);
        g_autoptr(AldOwnBus) bus = NULL;
        int r = ald_bus_check_host(ctl);

        if (r != ALD_EXIT_OK)
                return r;
        if (ctl->host && !ald_connection_has_ssh()) {
                ald_print_error("Cannot reach %s: ssh is not installed", ctl->host);
                return ALD_EXIT_UNREACHABLE;
        }
        r = ald_connection_open(ctl->host, &bus);
        if (r >= 0)
                r = ald_connection_await(bus, ctl->host, on_notice, (void *) place);
        if (r >= 0 && !ctl->host)
                r = sd_bus_set_method_call_timeout(bus, ALD_ANSWER_USEC);
        if (r < 0) {
                sd_bus_close(bus); /* flushing would wait again */
                (ctl->host ? print_problem_of_host : print_problem_of_bus)(place, r);
                return r == -EACCES || r == -EPERM ? ALD_EXIT_DENIED : ALD_EXIT_UNREACHABLE;
        }
        *ret = g_steal_pointer(&bus);
        return ALD_EXIT_OK;
}

static int ping(sd_bus *bus, const char *name, uint64_t usec, sd_bus_error *error)
{
        g_autoptr(AldMessage) m = NULL;
        int r;

        r = sd_bus_message_new_method_call(bus, &m, name, "/", "org.freedesktop.DBus.Peer", "Ping");
        return r < 0 ? r : sd_bus_call(bus, m, usec, error, NULL);
}

int ald_bus_await(sd_bus *bus, const char *name, sd_bus_error *error)
{
        int r;

        r = ping(bus, name, ALD_NOTICE_USEC, error);
        if (r != -ETIMEDOUT)
                return r;
        sd_bus_error_free(error);
        ald_print_error("Waiting for %s", name);
        return ping(bus, name, ALD_ANSWER_USEC - ALD_NOTICE_USEC, error);
}

/* Returns true if the service took too long or died, or the bus did. */
static bool is_without_answer(const sd_bus_error *error)
{
        return sd_bus_error_has_name(error, SD_BUS_ERROR_NO_REPLY) ||
               sd_bus_error_has_name(error, SD_BUS_ERROR_TIMEOUT) ||
               sd_bus_error_has_name(error, "org.freedesktop.DBus.Error.TimedOut");
}

static bool is_unknown_service(const sd_bus_error *error)
{
        return sd_bus_error_has_name(error, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
               sd_bus_error_has_name(error, SD_BUS_ERROR_NAME_HAS_NO_OWNER);
}

void ald_bus_ensure_error(sd_bus_error *error, int r)
{
        if (sd_bus_error_is_set(error))
                return;
        if (r == -EBADMSG || r == -ENXIO)
                (void) sd_bus_error_set(
                        error, SD_BUS_ERROR_INCONSISTENT_MESSAGE, "the reply does not match the interface");
        else
                (void) sd_bus_error_set_errno(error, r);
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
                { ALD_FOLLOW_TOO_LARGE, ALD_EXIT_UNREACHABLE },
                { "org.freedesktop.DBus.Error.TimedOut", ALD_EXIT_UNREACHABLE },
                { "org.freedesktop.systemd1.NoSuchUnit", ALD_EXIT_UNREACHABLE },
                { SD_BUS_ERROR_ACCESS_DENIED, ALD_EXIT_DENIED },
                { SD_BUS_ERROR_AUTH_FAILED, ALD_EXIT_DENIED },
                { SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED, ALD_EXIT_DENIED },
                { ALD_ERROR_NO_SUCH_NODE, ALD_EXIT_NO_NODE },
                { ALD_ERROR_AMBIGUOUS_NAME, ALD_EXIT_NO_NODE },
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

int ald_bus_print_error(const sd_bus_error *error, const char *what, const char *unit)
{
        const char *why = error->message ? error->message : error->name ? error->name : "unknown error";

        if (is_without_answer(error))
                ald_print_error(
                        "%s: %s did not answer (%s). See \"systemctl status %s\"; if it hangs, \"systemctl "
                        "restart %s\" helps",
                        what, unit, why, unit, unit);
        else if (is_unknown_service(error))
                ald_print_error("%s: %s; is Alidade installed and running there?", what, why);
        else
                ald_print_error("%s: %s", what, why);
        return ald_bus_exit_code(error);
}
