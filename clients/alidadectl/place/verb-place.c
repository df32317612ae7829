/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "clients/alidadectl/place/place-order.h"
#include "clients/alidadectl/place/plan-text.h"
#include "clients/alidadectl/verbs.h"
#include "clients/command-line/bus.h"
#include "clients/command-line/command-session.h"
#include "clients/command-line/print.h"
#include "clients/common/format.h"
#include "clients/common/plan-call.h"
#include "placement/plan/workload.h"
#include "placement/report/report-json.h"

/* The time limit of all trials with smaller settings. */
#define TRIALS_USEC (10 * G_USEC_PER_SEC)

/* A call that is in progress. */
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

/* If the connection ends, the service abandons the plan. */
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

static int request_plan(sd_bus *bus, const AldPlanWorkload *workload, const AldPlanOptions *options,
        uint64_t timeout_usec, AldPlanReport **ret, sd_bus_error *error)
{
        Waiting waiting = { .shows_progress = isatty(STDERR_FILENO) };
        g_autoptr(AldMessage) call = NULL, reply = NULL;
        sd_bus_slot *match = NULL, *slot = NULL;
        int r = ald_plan_call_new(bus, workload, options, &call);

        if (r >= 0)
                r = sd_bus_match_signal(bus, &match, ALD_PLACEMENT_NAME, ALD_PLACEMENT_PATH,
                        ALD_PLACEMENT_INTERFACE, "Progress", on_progress, &waiting);
        if (r >= 0)
                r = sd_bus_call_async(bus, &slot, call, on_reply, &waiting, timeout_usec);
        if (r >= 0)
                r = await_reply(bus, &waiting);
        sd_bus_slot_unref(match);
        sd_bus_slot_unref(slot);
        reply = waiting.reply;
        if (r < 0)
                return r;
        if (sd_bus_message_is_method_error(reply, NULL))
                return sd_bus_error_copy(error, sd_bus_message_get_error(reply));
        return ald_plan_call_read(reply, ret);
}

/* Trials with smaller settings, if a model does not fit. */
typedef struct Trials {
        sd_bus *bus;
        const AldPlanOptions *options;
        gint64 until_usec;
        bool ended;   /* by time or an error */
        bool is_open; /* at least one trial did not show that it does not fit */
} Trials;

static bool plan_fits(Trials *trials, const AldPlanOrder *order)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(AldPlanReport) report = NULL;
        g_autofree char *problem = NULL;
        gint64 left_usec = trials->until_usec - g_get_monotonic_time();
        AldPlanWorkload workload;

        trials->ended = trials->ended || left_usec <= 0;
        if (trials->ended || ald_plan_order_workload(order, &workload, &problem) < 0)
                return false;
        trials->ended = request_plan(trials->bus, &workload, trials->options, (uint64_t) left_usec, &report,
                                &error) < 0;
        ald_plan_workload_clear(&workload);
        trials->is_open |= report && report->plan.problem &&
                           !g_str_equal(report->plan.problem, "too-little-memory") &&
                           !g_str_equal(report->plan.problem, "no-device");
        return report && !report->plan.problem;
}

/* Returns the greatest value of a member of the order, in multiples of `step`, with which the model fits; 0
 * if there is none. It does not fit with the present value. */
static uint64_t find_greatest(Trials *trials, AldPlanOrder *order, uint64_t *member, uint64_t step)
{
        const uint64_t asked = *member;
        uint64_t below = 0, above = (asked + step - 1) / step;

        *member = step;
        if (above > 1 && plan_fits(trials, order))
                below = 1;
        while (below > 0 && above - below > 1 && !trials->ended) {
                uint64_t middle = (below + above) / 2;

                *member = middle * step;
                if (plan_fits(trials, order))
                        below = middle;
                else
                        above = middle;
        }
        *member = asked;
        return below * step;
}

/* Sets the largest type below 16 bits that the engine has and with which the model fits, or else the
 * smallest. */
static bool find_type(Trials *trials, AldPlanOrder *order)
{
        static const AldKvType smaller[] = { ALD_KV_Q8_0, ALD_KV_Q4_0 };

        if (order->type_k != ALD_N_KV_TYPES && order->type_k > ALD_KV_BF16)
                return false;
        for (size_t i = 0; i < G_N_ELEMENTS(smaller); i++) {
                if (!ald_plan_engine_keeps(order->engine, smaller[i]))
                        continue;
                order->type_k = order->type_v = smaller[i];
                if (plan_fits(trials, order))
                        return true;
        }
        return false;
}

static bool is_for_memory(const AldPlanReport *report)
{
        if (g_strcmp0(report->plan.problem, "too-little-memory") == 0 ||
                g_strcmp0(report->plan.problem, "no-split-found") == 0)
                return true;
        for (guint i = 0; g_strcmp0(report->plan.problem, "no-device") == 0 && i < report->left_out->len; i++)
                if (g_strcmp0(g_array_index(report->left_out, AldPlanLeftOutRow, i).reason,
                            "memory-too-small") == 0)
                        return true;
        return false;
}

/* Adds notes about the options with which the model would fit: first each changed alone, otherwise all
 * together. Each was planned, on the state of the cluster at that moment. */
static void note_smaller_settings(sd_bus *bus, const AldPlaceOrder *place, AldPlanReport *report)
{
        Trials trials = { bus, &place->options, g_get_monotonic_time() + TRIALS_USEC, false, false };
        AldPlanOrder all = place->order, one = place->order;
        uint64_t context, parallel;
        bool found = false;

        if (!place->llm || all.kv_bytes != ALD_ABSENT_UINT64 || !is_for_memory(report))
                return;
        if (all.context == ALD_ABSENT_UINT64)
                all.context = ald_plan_order_context(all.llm);
        if (all.parallel == ALD_ABSENT_UINT64)
                all.parallel = 1;
        if (find_type(&trials, &one)) {
                ald_plan_report_add_note(
                        report, g_strdup_printf("It fits with --kv-type=%s.", ald_kv_type_name(one.type_k)));
                found = true;
        }
        parallel = find_greatest(&trials, &all, &all.parallel, 1);
        context = find_greatest(&trials, &all, &all.context, ALD_LLM_CELLS_STEP);
        if (parallel > 0)
                ald_plan_report_add_note(
                        report, g_strdup_printf("It fits with --parallel=%" PRIu64 ".", parallel));
        if (context > 0)
                ald_plan_report_add_note(
                        report, g_strdup_printf("It fits with --context=%" PRIu64 ".", context));
        if (found || parallel > 0 || context > 0)
                return;
        all.type_k = one.type_k;
        all.type_v = one.type_v;
        all.parallel = 1;
        context = find_greatest(&trials, &all, &all.context, ALD_LLM_CELLS_STEP);
        /* A context of less than a step is tried as it is. */
        if (context == 0 && all.context <= ALD_LLM_CELLS_STEP && plan_fits(&trials, &all))
                context = all.context;
        if (context > 0)
                ald_plan_report_add_note(
                        report, g_strdup_printf("It fits with --parallel=1 --context=%" PRIu64 "%s%s.",
                                        context, all.type_k == ALD_N_KV_TYPES ? "" : " --kv-type=",
                                        all.type_k == ALD_N_KV_TYPES ? "" : ald_kv_type_name(all.type_k)));
        else if (!trials.ended && !trials.is_open)
                ald_plan_report_add_note(report,
                        g_strdup(all.type_k == place->order.type_k
                                         ? "It does not fit with a shorter context and fewer requests either."
                                         : "It does not fit with a shorter context, fewer requests and "
                                           "smaller "
                                           "keys and values either."));
}

static int print_report(AldPlaceOrder *order, AldPlanReport *report)
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
        r = request_plan(bus, &order.workload, &order.options, ALD_PLAN_CALL_USEC, &report, &error);
        if (r < 0) {
                ald_bus_ensure_error(&error, r);
                /* The service works, but has found no plan in time. */
                if (sd_bus_error_has_name(&error, SD_BUS_ERROR_TIMEOUT)) {
                        ald_print_error("Cannot plan: %s", error.message);
                        return ALD_EXIT_ERROR;
                }
                return ald_bus_print_error(&error, "Cannot plan", ALD_PLACEMENT_UNIT);
        }
        note_smaller_settings(bus, &order, report);
        return print_report(&order, report);
}
