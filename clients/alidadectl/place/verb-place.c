/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "clients/alidadectl/place/place-order.h"
#include "clients/alidadectl/place/plan-text.h"
#include "clients/alidadectl/verbs.h"
#include "clients/command-line/bus.h"
#include "clients/command-line/print.h"
#include "clients/command-line/session.h"
#include "clients/common/format.h"
#include "clients/common/plan-call.h"
#include "placement/report/report-json.h"

/* A call that is under way. */
typedef struct Waiting {
        sd_bus_message *reply;
        bool shows_progress;
} Waiting;

static int on_reply(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        Waiting *waiting = userdata;

        waiting->reply = sd_bus_message_ref(reply);
        return 0;
}

static int on_progress(sd_bus_message *signal, void *userdata, sd_bus_error *error)
{
        const Waiting *waiting = userdata;
        double fraction;

        if (waiting->shows_progress && sd_bus_message_read(signal, "d", &fraction) >= 0) {
                g_autofree char *done = ald_format_percent(round(100 * fraction));

                fprintf(stderr, "\rPlanning: %s\033[K", done);
        }
        return 0;
}

/* If the connection ends, the service gives the plan up. */
static int await_reply(sd_bus *bus, Waiting *waiting)
{
        while (!waiting->reply) {
                int r = sd_bus_process(bus, NULL);

                if (r == 0)
                        r = sd_bus_wait(bus, UINT64_MAX);
                if (r < 0)
                        return r;
        }
        if (waiting->shows_progress)
                fputs("\r\033[K", stderr);
        return 0;
}

static int ask(sd_bus *bus, const AldPlaceOrder *order, AldPlanReport **ret, sd_bus_error *error)
{
        Waiting waiting = { .shows_progress = isatty(STDERR_FILENO) };
        g_autoptr(AldMessage) call = NULL, reply = NULL;
        int r = ald_plan_call_new(bus, &order->workload, &order->options, &call);

        if (r >= 0)
                r = sd_bus_match_signal(bus, NULL, ALD_PLACEMENT_NAME, ALD_PLACEMENT_PATH,
                        ALD_PLACEMENT_INTERFACE, "Progress", on_progress, &waiting);
        if (r >= 0)
                r = sd_bus_call_async(bus, NULL, call, on_reply, &waiting, ALD_PLAN_CALL_USEC);
        if (r >= 0)
                r = await_reply(bus, &waiting);
        reply = waiting.reply;
        if (r < 0)
                return r;
        if (sd_bus_message_is_method_error(reply, NULL))
                return sd_bus_error_copy(error, sd_bus_message_get_error(reply));
        return ald_plan_call_read(reply, ret);
}

static int print(AldPlaceOrder *order, AldPlanReport *report)
{
        g_autoptr(GString) out = g_string_new(NULL);
        json_auto_t *json = NULL;
        AldStyleInfo info = ald_style_info();
        int r;

        if (order->choice)
                ald_plan_report_add_note(report, g_steal_pointer(&order->choice));
        if (order->ctl.json) {
                if (order->note)
                        fprintf(stderr, "Note: %s\n", order->note);
                json = ald_plan_report_to_json(report);
                r = ald_print_json(&order->ctl, json);
        } else {
                ald_plan_write_text(out, report, order, info.columns, ald_now());
                r = ald_print(&order->ctl, &info, out->str);
        }
        return r == ALD_EXIT_OK && report->plan.problem ? ALD_EXIT_ERROR : r;
}

int ald_verb_place(const AldCtl *ctl)
{
        g_auto(AldPlaceOrder) order;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(AldPlanReport) report = NULL;
        g_autoptr(AldOwnBus) bus = NULL;
        int r;

        ald_place_order_init(&order, ctl);
        r = ald_place_order_parse(&order);
        if (r >= 0)
                return r;
        r = ald_place_order_complete(&order);
        if (r == ALD_EXIT_OK)
                r = ald_bus_open(&order.ctl, &bus);
        if (r != ALD_EXIT_OK)
                return r;
        r = ask(bus, &order, &report, &error);
        if (r < 0) {
                ald_bus_ensure_error(&error, r);
                /* The service is well, but has found no plan in time. */
                if (sd_bus_error_has_name(&error, SD_BUS_ERROR_TIMEOUT)) {
                        ald_print_error("Cannot plan: %s", error.message);
                        return ALD_EXIT_ERROR;
                }
                return ald_bus_print_error(&error, "Cannot plan", ALD_PLACEMENT_UNIT);
        }
        return print(&order, report);
}
