/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/alidadectl/agent.h"
#include "clients/alidadectl/verbs.h"
#include "clients/command-line/bus.h"
#include "clients/command-line/print.h"

static int call_set_name(sd_bus *bus, const char *name, bool interactive, sd_bus_error *error)
{
        g_autoptr(AldMessage) m = NULL;
        int r;

        r = sd_bus_message_new_method_call(
                bus, &m, ALD_IDENTITY_NAME, ALD_IDENTITY_PATH, ALD_IDENTITY_INTERFACE, "SetFriendlyName");
        if (r >= 0)
                r = sd_bus_message_set_allow_interactive_authorization(m, interactive);
        if (r >= 0)
                r = sd_bus_message_append(m, "s", name);
        if (r >= 0)
                r = sd_bus_call(bus, m, interactive ? ALD_ASKING_USEC : 0, error, NULL);
        return r;
}

int ald_verb_set_name(const AldCtl *ctl)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(AldOwnBus) bus = NULL;
        int agent, r;

        if (!g_utf8_validate(ctl->args[0], -1, NULL)) {
                ald_print_error("The name is not UTF-8");
                return ALD_EXIT_USAGE;
        }
        r = ald_bus_open(ctl, &bus);
        if (r != ALD_EXIT_OK)
                return r;
        r = ald_bus_await(bus, ALD_IDENTITY_NAME, &error);
        if (r >= 0) {
                agent = ald_agent_start(ctl);
                r = call_set_name(bus, ctl->args[0], ald_agent_may_ask(ctl), &error);
                ald_agent_stop(agent);
        }
        if (r >= 0 && !*ctl->args[0])
                return ald_print_done("Removed the friendly name of %s", ctl->host ?: "this machine");
        if (r >= 0)
                return ald_print_done("%s is now called \"%s\"", ctl->host ?: "This machine", ctl->args[0]);
        if (!sd_bus_error_is_set(&error))
                (void) sd_bus_error_set_errno(&error, r);
        return ald_bus_print_error(&error, "Cannot set the name", ALD_IDENTITY_UNIT);
}
