/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "common/bus-cleanup.h"
#include "common/bus-names.h"
#include "common/excerpt.h"
#include "placement/plan/model-files.h"
#include "record/record-bus.h"
#include "services/common/arguments.h"
#include "services/common/errors.h"
#include "services/common/peer.h"
#include "services/common/vtables.h"
#include "services/placement/idle.h"
#include "services/placement/placement-bus.h"
#include "services/placement/plan-jobs.h"
#include "services/placement/plan-request.h"
#include "services/placement/state-reader.h"

struct AldPlacementBus {
        AldService *service;
        AldStateReader *reader;
        AldPlanJobs *jobs;
        AldIdle *idle;
        sd_bus_slot *slot;
};

/* A call of Plan(). */
typedef struct PlanCall {
        AldPlacementBus *bus;
        AldPeer *caller;
        AldPlanJob *job; /* once it has its turn */
        sd_bus_message *message;
        AldPlanWorkload workload;
        AldPlanOptions options;
        GPtrArray *owned;
} PlanCall;

static void plan_call_free(PlanCall *call)
{
        ald_state_reader_forget(call->bus->reader, call);
        ald_peer_free(call->caller);
        g_ptr_array_unref(call->owned);
        sd_bus_message_unref(call->message);
        g_free(call);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PlanCall, plan_call_free)

static void reply_error(const PlanCall *call, const char *name, const char *text)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        (void) sd_bus_error_set(&error, name, text);
        (void) sd_bus_reply_method_error(call->message, &error);
}

static char *describe_missing_node(AldModel *model, const char *text)
{
        g_autofree char *excerpt = ald_excerpt(text), *similar = NULL;
        const char *closest = ald_model_closest_name(model, text);

        if (!closest)
                return g_strdup_printf("No such node: %s", excerpt);
        similar = ald_excerpt(closest);
        return g_strdup_printf("No such node: %s; did you mean %s?", excerpt, similar);
}

static void reply_name_error(
        const PlanCall *call, AldModel *model, int r, const char *text, const char *candidates)
{
        g_autofree char *excerpt = ald_excerpt(text), *message = NULL;

        switch (r) {
        case -ALD_E_AMBIGUOUS_NAME:
                message = g_strdup_printf("Several nodes match %s: %s", excerpt, candidates);
                reply_error(call, ALD_ERROR_AMBIGUOUS_NAME, message);
                return;
        case -ALD_E_NO_SUCH_DEVICE:
                message = g_strdup_printf("No such device: %s", excerpt);
                reply_error(call, ALD_ERROR_NO_SUCH_DEVICE, message);
                return;
        case -ALD_E_NO_SUCH_NODE:
                message = describe_missing_node(model, text);
                reply_error(call, ALD_ERROR_NO_SUCH_NODE, message);
                return;
        default:
                message = g_strdup_printf("Split: not of the form NODE/DEVICE=LAYERS: %s", excerpt);
                reply_error(call, SD_BUS_ERROR_INVALID_ARGS, message);
        }
}

static void on_state(AldModel *model, const char *reason, void *userdata)
{
        PlanCall *call = userdata;
        AldPlanRequest request;
        const char *text, *candidates;
        int r;

        if (!model) {
                g_autofree char *message = g_strdup_printf("Cannot read the state service: %s", reason);

                reply_error(call, ALD_ERROR_STATE_UNAVAILABLE, message);
                ald_plan_job_fail(call->job, -EREMOTEIO);
                return;
        }
        r = ald_plan_request_make(
                model, &call->workload, &call->options, call->owned, &request, &text, &candidates);
        if (r < 0) {
                reply_name_error(call, model, r, text, candidates);
                ald_plan_job_fail(call->job, -EREMOTEIO);
                return;
        }
        ald_plan_job_start(call->job, ald_plan_snapshot_new(model), &request, &call->options);
}

static void on_turn(AldPlanJob *job, void *userdata)
{
        AldPlacementBus *bus = userdata;
        PlanCall *call = ald_plan_job_of(job);

        call->job = job;
        ald_state_reader_request(bus->reader, on_state, call);
}

static void on_progress(AldPlanJob *job, double fraction, void *userdata)
{
        AldPlacementBus *bus = userdata;
        PlanCall *call = ald_plan_job_of(job);
        const char *sender = sd_bus_message_get_sender(call->message);
        g_autoptr(AldMessage) signal = NULL;

        if (!ald_service_is_reading(bus->service, sender) ||
                sd_bus_message_new_signal(ald_service_bus(bus->service), &signal, ALD_PLACEMENT_PATH,
                        ALD_PLACEMENT_INTERFACE, "Progress") < 0 ||
                sd_bus_message_set_destination(signal, sender) < 0 ||
                sd_bus_message_append(signal, "d", fraction) < 0)
                return;
        if (sd_bus_send(NULL, signal, NULL) >= 0)
                ald_service_note_directed(bus->service, sender, sizeof fraction);
}

static int append_part(
        sd_bus_message *message, const AldPlanReport *report, const AldPlanReportPart *part, size_t *bytes)
{
        const GArray *rows = ald_plan_report_part(report, part);
        int r = ald_record_bus_open_rows(message, part->type);

        for (guint i = 0; r >= 0 && i < rows->len; i++) {
                const void *row = rows->data + i * part->type->size;

                r = ald_record_bus_append_row(message, part->type, row);
                *bytes += ald_struct_wire_size(part->type, row);
        }
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int reply_plan(const PlanCall *call, const AldPlanReport *report)
{
        g_autoptr(AldMessage) message = NULL;
        size_t bytes = 0;
        int r = sd_bus_message_new_method_return(call->message, &message);

        if (r >= 0)
                r = ald_record_bus_append_struct(message, &ald_plan_row_struct, &report->plan);
        for (size_t i = 0; r >= 0 && i < ALD_PLAN_REPORT_PARTS; i++)
                r = append_part(message, report, &ald_plan_report_parts[i], &bytes);
        if (r >= 0)
                r = sd_bus_send(NULL, message, NULL);
        if (r >= 0)
                ald_service_note_reply(call->bus->service, call->message, bytes);
        return r;
}

static bool is_of_sender(void *of, const void *sender)
{
        const PlanCall *call = of;

        return g_str_equal(sd_bus_message_get_sender(call->message), sender);
}

static void answer_call(const PlanCall *call, int error, const AldPlanReport *report, const char *problem)
{
        int r = report ? reply_plan(call, report) : 0;

        if (r < 0)
                g_warning("Cannot send a plan: %s", g_strerror(-r));
        if (report && r >= 0)
                return;
        switch (error) {
        case -EREMOTEIO: /* the caller already has its reply */
                return;
        case -ECANCELED:
                reply_error(call, ALD_ERROR_CANCELED, "The plan was canceled");
                return;
        case -ETIMEDOUT:
                reply_error(call, SD_BUS_ERROR_TIMEOUT, "No plan was found within a minute");
                return;
        case -EINVAL:
                reply_error(call, SD_BUS_ERROR_INVALID_ARGS, problem);
                return;
        default:
                reply_error(call, SD_BUS_ERROR_FAILED, "The plan could not be made");
        }
}

static void on_ended(
        AldPlanJob *job, int error, const AldPlanReport *report, const char *problem, void *userdata)
{
        PlanCall *call = ald_plan_job_of(job);

        answer_call(call, error, report, problem);
        plan_call_free(call);
}

static void on_no_job(void *userdata)
{
        AldPlacementBus *bus = userdata;

        ald_idle_begin(bus->idle);
}

static const AldPlanJobsHandler jobs_handler = {
        .turn = on_turn, .progress = on_progress, .ended = on_ended, .idle = on_no_job
};

static int set_engine_error(const char *name, sd_bus_error *error)
{
        g_autofree char *excerpt = ald_excerpt(name), *list = ald_plan_engine_list();

        return sd_bus_error_setf(
                error, SD_BUS_ERROR_INVALID_ARGS, "Engine: one of %s, not %s", list, excerpt);
}

static int read_call(PlanCall *call, sd_bus_error *error)
{
        const AldPlanEngine *engine;
        const char *reason;
        int r = ald_arguments_read(
                call->message, &ald_plan_workload_struct, call->owned, &call->workload, error);

        if (r >= 0)
                r = ald_arguments_read(
                        call->message, &ald_plan_options_struct, call->owned, &call->options, error);
        if (r < 0)
                return r;
        engine = ald_plan_engine_find(call->options.engine);
        if (!engine)
                return set_engine_error(call->options.engine, error);
        if (ald_plan_engine_reading(engine, &call->workload, &reason) == ALD_MODEL_REFUSED)
                return sd_bus_error_set(error, ALD_ERROR_UNREADABLE_MODEL, reason);
        if (ald_plan_workload_check(&call->workload, engine, &reason) < 0 ||
                ald_plan_workload_complete(&call->workload, &reason) < 0)
                return sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS, reason);
        if ((call->options.assumed_bits_per_second == ALD_ABSENT_UINT64) !=
                (call->options.assumed_rtt_nsec == ALD_ABSENT_UINT64))
                return sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS,
                        "AssumedBitsPerSecond and AssumedRttNSec require each other");
        return 0;
}

static int set_limit_error(int r, sd_bus_error *error)
{
        switch (r) {
        case -ALD_E_USER_LIMIT:
                return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
                        "%u plans of this user wait already, which is the limit",
                        ALD_PLANS_WAITING_PER_USER_MAX);
        case -ALD_E_COMMON_LIMIT:
                return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
                        "%u plans wait already, which is the limit", ALD_PLANS_WAITING_MAX);
        default:
                return r;
        }
}

static bool is_same_call(void *of, const void *call)
{
        return of == call;
}

static void on_caller(AldPeer *peer, const char *owner, void *userdata)
{
        const PlanCall *call = userdata;

        if (!owner)
                ald_plan_jobs_cancel(call->bus->jobs, is_same_call, call);
}

/* Asks the bus for the user: the service does not keep calls with arguments of this size until their user is
 * known. */
static int read_uid(sd_bus_message *message, uid_t *ret, sd_bus_error *error)
{
        g_autoptr(AldCreds) creds = NULL;
        int r = sd_bus_query_sender_creds(message, SD_BUS_CREDS_EUID, &creds);

        if (r >= 0)
                r = sd_bus_creds_get_euid(creds, ret);
        return r >= 0 ? 0
                      : sd_bus_error_set(error, SD_BUS_ERROR_ACCESS_DENIED,
                                "Cannot determine the caller's credentials");
}

static int method_plan(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldPlacementBus *bus = userdata;
        g_autoptr(PlanCall) call = g_new0(PlanCall, 1);
        uid_t uid;
        int r;

        call->bus = bus;
        call->message = sd_bus_message_ref(message);
        call->owned = g_ptr_array_new_with_free_func(g_free);
        r = read_call(call, error);
        if (r >= 0)
                r = read_uid(message, &uid, error);
        if (r >= 0)
                r = ald_peer_new(bus->service, ald_service_bus(bus->service),
                        sd_bus_message_get_sender(message), on_caller, call, &call->caller);
        if (r < 0)
                return r;
        ald_idle_end(bus->idle);
        r = ald_plan_jobs_add(bus->jobs, uid, call);
        if (r < 0)
                return set_limit_error(r, error);
        g_steal_pointer(&call);
        return 1;
}

static int method_cancel(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldPlacementBus *bus = userdata;

        ald_plan_jobs_cancel(bus->jobs, is_of_sender, sd_bus_message_get_sender(message));
        return sd_bus_reply_method_return(message, NULL);
}

static const sd_bus_vtable vtable[] = { ALD_PLACEMENT1_VTABLE(AldPlacementBus) };

int ald_placement_bus_new(AldService *service, AldPlacementBus **ret)
{
        AldPlacementBus *bus = g_new0(AldPlacementBus, 1);
        int r;

        bus->service = service;
        bus->reader = ald_state_reader_new(service);
        bus->jobs = ald_plan_jobs_new(&jobs_handler, bus);
        bus->idle = ald_idle_new(service);
        r = sd_bus_add_object_vtable(ald_service_bus(service), &bus->slot, ALD_PLACEMENT_PATH,
                ALD_PLACEMENT_INTERFACE, vtable, bus);
        if (r < 0) {
                ald_placement_bus_free(bus);
                return r;
        }
        *ret = bus;
        return 0;
}

void ald_placement_bus_free(AldPlacementBus *bus)
{
        if (!bus)
                return;
        sd_bus_slot_unref(bus->slot);
        ald_plan_jobs_free(bus->jobs);
        ald_state_reader_free(bus->reader);
        ald_idle_free(bus->idle);
        g_free(bus);
}
