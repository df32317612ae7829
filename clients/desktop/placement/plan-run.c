/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/common/plan-call.h"
#include "clients/desktop/actions/host-call.h"
#include "clients/desktop/placement/plan-run.h"
#include "common/bus-cleanup.h"
#include "common/bus-names.h"

struct AldPlanRun {
        AldHostCall *call;
        AldHostUse *use; /* to receive signals; NULL without a connection */
        sd_bus_slot *match;
        const AldPlanRunHandler *handler;
        void *userdata;
};

/* The arguments of the call. */
typedef struct PlanArguments {
        const AldPlanWorkload *workload;
        const AldPlanOptions *options;
} PlanArguments;

void ald_plan_run_free(AldPlanRun *run)
{
        if (!run)
                return;
        sd_bus_slot_unref(run->match);
        ald_host_call_free(run->call);
        ald_host_use_end(run->use);
        g_free(run);
}

static void on_replied(sd_bus_message *reply, const sd_bus_error *error, void *userdata)
{
        static const sd_bus_error unreadable = SD_BUS_ERROR_MAKE_CONST(
                SD_BUS_ERROR_INCONSISTENT_MESSAGE, "the reply cannot be read");
        AldPlanRun *run = userdata;
        const AldPlanRunHandler *handler = run->handler;
        void *owner = run->userdata;
        AldPlanReport *report = NULL;

        run->call = NULL;
        if (reply && ald_plan_call_read(reply, &report) < 0)
                error = &unreadable;
        ald_plan_run_free(run);
        handler->ended(report, error, owner);
}

/* The sender is not checked, since a false signal can at most move a bar. */
static int on_progress(sd_bus_message *signal, void *userdata, sd_bus_error *ret_error)
{
        const AldPlanRun *run = userdata;
        double fraction;

        if (sd_bus_message_read(signal, "d", &fraction) >= 0 && isfinite(fraction))
                run->handler->progressed(CLAMP(fraction, 0, 1), run->userdata);
        return 0;
}

/* Does nothing: the call fails as well. */
static void on_lost(const sd_bus_error *error, void *userdata)
{
}

static int make_call(sd_bus *bus, const void *data, sd_bus_message **ret)
{
        const PlanArguments *arguments = data;

        return ald_plan_call_new(bus, arguments->workload, arguments->options, ret);
}

/* Subscribes to the signals of progress. Without them the plan is made all the same. */
static void follow_progress(AldPlanRun *run, AldHostBus *bus)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        run->use = ald_host_bus_use(bus, on_lost, run, &error);
        if (run->use)
                (void) sd_bus_match_signal_async(ald_host_use_bus(run->use), &run->match, ALD_PLACEMENT_NAME,
                        ALD_PLACEMENT_PATH, ALD_PLACEMENT_INTERFACE, "Progress", on_progress, NULL, run);
}

AldPlanRun *ald_plan_run_start(AldHostBus *bus, const AldPlanWorkload *workload,
        const AldPlanOptions *options, const AldPlanRunHandler *handler, void *userdata)
{
        const PlanArguments arguments = { workload, options };
        AldPlanRun *run = g_new0(AldPlanRun, 1);

        run->handler = handler;
        run->userdata = userdata;
        follow_progress(run, bus);
        run->call = ald_host_call_new_with_message(
                bus, make_call, &arguments, ALD_PLAN_CALL_USEC, on_replied, run);
        return run;
}

/* Cancels the plan without waiting for the reply: a later call is handled afterwards, as it uses the same
 * connection. */
static void cancel_in_service(sd_bus *bus)
{
        g_autoptr(AldMessage) m = NULL;

        if (sd_bus_message_new_method_call(bus, &m, ALD_PLACEMENT_NAME, ALD_PLACEMENT_PATH,
                    ALD_PLACEMENT_INTERFACE, "Cancel") >= 0 &&
                sd_bus_message_set_expect_reply(m, false) >= 0)
                (void) sd_bus_send(bus, m, NULL);
}

void ald_plan_run_cancel(AldPlanRun *run)
{
        if (!run)
                return;
        if (run->use)
                cancel_in_service(ald_host_use_bus(run->use));
        ald_plan_run_free(run);
}
