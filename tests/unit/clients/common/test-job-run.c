/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>

#include "clients/common/probes/job-run.h"
#include "common/bus-cleanup.h"
#include "common/bus-names.h"
#include "common/bus-source.h"
#include "common/source.h"
#include "tests/unit/bus-pair.h"

#define PEER "00000000000000000000000000000002"
#define JOB_PATH ALD_LINK_PROBE_PATH "/job/7"
#define JOB_INTERFACE "org.alidade.LinkProbe1.Job"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define DRIVER "org.freedesktop.DBus"
#define OWNER ":1.5"

/* A client, and the link-probe service that is played to it, in a context of their own. */
typedef struct Fixture {
        GMainContext *context;
        BusPair *pair;
        GSource *client, *service;
        const char *state, *phase; /* of the job */
        const char *refused;       /* the member that is answered with the error, or NULL */
        const char *error;
        const char *malformed;   /* the member whose answer has another type, or NULL */
        const char *held;        /* the member that is not answered, or NULL */
        sd_bus_message *waiting; /* its call */
        GString *calls, *told;
        AldJobRun *run;
} Fixture;

/* "mlx5_0.1", "true" or "gemm,read" */
static void append_value(GString *out, sd_bus_message *m, char type)
{
        const char *text;
        int flag;

        if (type == SD_BUS_TYPE_ARRAY) {
                g_autofree char **list = NULL;

                g_assert_cmpint(sd_bus_message_read_strv(m, &list), >=, 0);
                for (char **word = list; *word; word++) {
                        g_string_append_printf(out, "%s%s", word > list ? "," : "", *word);
                        free(*word);
                }
        } else if (type == SD_BUS_TYPE_BOOLEAN) {
                g_assert_cmpint(sd_bus_message_read(m, "b", &flag), >, 0);
                g_string_append(out, flag ? "true" : "false");
        } else {
                g_assert_cmpint(sd_bus_message_read(m, "s", &text), >, 0);
                g_string_append(out, text);
        }
}

static void append_variants(GString *out, sd_bus_message *m)
{
        const char *name, *contents;

        g_assert_cmpint(sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, "{sv}"), >, 0);
        while (sd_bus_message_enter_container(m, SD_BUS_TYPE_DICT_ENTRY, "sv") > 0) {
                g_assert_cmpint(sd_bus_message_read(m, "s", &name), >, 0);
                g_assert_cmpint(sd_bus_message_peek_type(m, NULL, &contents), >, 0);
                g_string_append_printf(out, " %s=", name);
                g_assert_cmpint(sd_bus_message_enter_container(m, SD_BUS_TYPE_VARIANT, contents), >, 0);
                append_value(out, m, contents[0]);
                g_assert_cmpint(sd_bus_message_exit_container(m), >=, 0);
                g_assert_cmpint(sd_bus_message_exit_container(m), >=, 0);
        }
}

static void note_call(Fixture *fixture, sd_bus_message *call)
{
        const char *member = sd_bus_message_get_member(call), *id;

        g_string_append(fixture->calls, member);
        if (g_str_has_prefix(member, "Probe")) {
                g_assert_cmpstr(sd_bus_message_get_destination(call), ==, ALD_LINK_PROBE_NAME);
                g_assert_cmpint(sd_bus_message_read(call, "s", &id), >, 0);
                g_string_append_printf(fixture->calls, " '%s'", id);
                append_variants(fixture->calls, call);
                if (sd_bus_message_get_allow_interactive_authorization(call))
                        g_string_append(fixture->calls, " asks");
        } else {
                g_assert_cmpstr(sd_bus_message_get_path(call), ==, JOB_PATH);
                g_assert_cmpstr(sd_bus_message_get_destination(call), ==, OWNER);
        }
        g_string_append(fixture->calls, "; ");
}

static int append_reply(sd_bus_message *reply, const char *member, const Fixture *fixture)
{
        if (g_strcmp0(member, fixture->malformed) == 0)
                return sd_bus_message_append(reply, "u", 7);
        if (g_str_has_prefix(member, "Probe"))
                return sd_bus_message_append(reply, "o", JOB_PATH);
        if (g_str_equal(member, "GetAll"))
                return sd_bus_message_append(reply, "a{sv}", 4, "State", "s", fixture->state, "Phase", "s",
                        fixture->phase, "Progress", "d", 0.25, "Result", "a{sv}", 1, "New", "u", 5);
        return 0;
}

static void answer(Fixture *fixture, sd_bus_message *call)
{
        const char *member = sd_bus_message_get_member(call);
        g_autoptr(AldMessage) reply = NULL;

        if (g_strcmp0(member, fixture->refused) == 0) {
                g_assert_cmpint(sd_bus_reply_method_errorf(call, fixture->error, "no"), >=, 0);
                return;
        }
        g_assert_cmpint(sd_bus_message_new_method_return(call, &reply), >=, 0);
        g_assert_cmpint(sd_bus_message_set_sender(reply, OWNER), >=, 0);
        g_assert_cmpint(append_reply(reply, member, fixture), >=, 0);
        g_assert_cmpint(sd_bus_send(NULL, reply, NULL), >=, 0);
}

static int on_call(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        Fixture *fixture = userdata;

        if (sd_bus_message_is_method_call(call, NULL, NULL) <= 0)
                return 0;
        note_call(fixture, call);
        if (g_strcmp0(sd_bus_message_get_member(call), fixture->held) == 0)
                fixture->waiting = sd_bus_message_ref(call);
        else
                answer(fixture, call);
        return 1;
}

static void on_closed(sd_bus *bus, int error, void *userdata)
{
        g_assert_not_reached();
}

static void set_up(Fixture *fixture, const void *data)
{
        fixture->context = g_main_context_new();
        g_main_context_push_thread_default(fixture->context);
        fixture->pair = bus_pair_new();
        g_assert_cmpint(sd_bus_add_filter(fixture->pair->service, NULL, on_call, fixture), >=, 0);
        fixture->service = ald_bus_source_new(fixture->pair->service, on_closed, NULL);
        fixture->client = ald_bus_source_new(fixture->pair->client, on_closed, NULL);
        fixture->state = "running";
        fixture->phase = "rtt";
        fixture->calls = g_string_new(NULL);
        fixture->told = g_string_new(NULL);
}

static void tear_down(Fixture *fixture, const void *data)
{
        ald_job_run_free(fixture->run);
        ald_source_clear(&fixture->client);
        ald_source_clear(&fixture->service);
        sd_bus_message_unref(fixture->waiting);
        bus_pair_free(fixture->pair);
        g_string_free(fixture->calls, TRUE);
        g_string_free(fixture->told, TRUE);
        g_main_context_pop_thread_default(fixture->context);
        g_main_context_unref(fixture->context);
}

static void on_changed(AldJobRun *run, void *userdata)
{
        Fixture *fixture = userdata;
        const AldProbeJob *job = ald_job_run_job(run);

        g_string_append_printf(fixture->told, "%s %s %g; ", job->state, job->phase, job->progress);
}

/* Frees it, as users do. */
static void on_ended(AldJobRun *run, const sd_bus_error *error, void *userdata)
{
        Fixture *fixture = userdata;
        json_t *result = json_object_get(ald_job_run_json(run), "Result");

        g_string_append_printf(fixture->told, "ended: %s",
                error ? error->name : ald_job_run_job(run)->state ?: "-");
        if (!error && result)
                g_string_append_printf(
                        fixture->told, " %d", (int) json_integer_value(json_object_get(result, "New")));
        g_clear_pointer(&fixture->run, ald_job_run_free);
}

static void pump(Fixture *fixture)
{
        while (g_main_context_iteration(fixture->context, FALSE))
                ;
}

static void start(Fixture *fixture, const AldJobCall *call)
{
        static const AldJobRunHandler handler = { .changed = on_changed, .ended = on_ended };

        g_assert_cmpint(
                ald_job_run_start(fixture->pair->client, call, &handler, fixture, &fixture->run), >=, 0);
        pump(fixture);
}

static void start_link(Fixture *fixture)
{
        const AldJobCall call = { .words = &ald_probe_words_socket, .id = PEER };

        start(fixture, &call);
}

static void assert_seen(Fixture *fixture, const char *calls, const char *told)
{
        pump(fixture);
        g_assert_cmpstr(fixture->calls->str, ==, calls);
        g_assert_cmpstr(fixture->told->str, ==, told);
        g_string_truncate(fixture->calls, 0);
        g_string_truncate(fixture->told, 0);
}

static void assert_begun(Fixture *fixture)
{
        assert_seen(fixture, "ProbeLink '" PEER "'; GetAll; ", "running rtt 0.25; ");
        g_assert_true(ald_job_run_has_started(fixture->run));
}

/* Fires the only timer of the job, which would take seconds. */
static void pass_time(Fixture *fixture)
{
        GSource *timer = g_main_context_find_source_by_user_data(fixture->context, fixture->run);

        g_assert_nonnull(timer);
        g_source_set_ready_time(timer, 0);
        pump(fixture);
}

/* PropertiesChanged, without progress from now on. */
static void signal_state(
        Fixture *fixture, const char *sender, const char *path, const char *interface, const char *state)
{
        g_autoptr(AldMessage) signal = NULL;

        g_assert_cmpint(sd_bus_message_new_signal(
                                fixture->pair->service, &signal, path, PROPERTIES, "PropertiesChanged"),
                >=, 0);
        g_assert_cmpint(sd_bus_message_set_sender(signal, sender), >=, 0);
        g_assert_cmpint(sd_bus_message_append(signal, "sa{sv}as", interface, 2, "State", "s", state,
                                "Progress", "d", NAN, 0),
                >=, 0);
        g_assert_cmpint(sd_bus_send(fixture->pair->service, signal, NULL), >=, 0);
        pump(fixture);
}

static void signal_owner(Fixture *fixture, const char *old, const char *new)
{
        g_autoptr(AldMessage) signal = NULL;

        g_assert_cmpint(sd_bus_message_new_signal(fixture->pair->service, &signal, "/org/freedesktop/DBus",
                                DRIVER, "NameOwnerChanged"),
                >=, 0);
        g_assert_cmpint(sd_bus_message_set_sender(signal, DRIVER), >=, 0);
        g_assert_cmpint(sd_bus_message_append(signal, "sss", ALD_LINK_PROBE_NAME, old, new), >=, 0);
        g_assert_cmpint(sd_bus_send(fixture->pair->service, signal, NULL), >=, 0);
        pump(fixture);
}

/* What belongs to the end is read anew, since it may come in several signals. */
static void test_from_start_to_end(Fixture *fixture, const void *data)
{
        start_link(fixture);
        assert_begun(fixture);
        signal_state(fixture, OWNER, JOB_PATH, JOB_INTERFACE, "waiting");
        assert_seen(fixture, "", "waiting rtt nan; ");
        fixture->state = "done";
        signal_state(fixture, OWNER, JOB_PATH, JOB_INTERFACE, "done");
        assert_seen(fixture, "GetAll; ", "ended: done 5");
}

static void test_over_at_once(Fixture *fixture, const void *data)
{
        fixture->state = "failed";
        start_link(fixture);
        assert_seen(fixture, "ProbeLink '" PEER "'; GetAll; ", "ended: failed 5");
}

static void test_only_the_service_is_believed(Fixture *fixture, const void *data)
{
        start_link(fixture);
        assert_begun(fixture);
        signal_state(fixture, ":1.6", JOB_PATH, JOB_INTERFACE, "failed");
        signal_state(fixture, OWNER, ALD_LINK_PROBE_PATH "/job/8", JOB_INTERFACE, "failed");
        signal_state(fixture, OWNER, JOB_PATH, ALD_LINK_PROBE_INTERFACE, "failed");
        signal_owner(fixture, ":1.6", "");
        assert_seen(fixture, "", "");
}

static void test_options(Fixture *fixture, const void *data)
{
        char *metrics[] = { (char *) "gemm", (char *) "read", NULL };
        const AldJobCall calls[] = {
                { .words = &ald_probe_words_socket, .id = PEER, .address = "192.0.2.2", .asks = true },
                { .words = &ald_probe_words_rtt, .id = PEER },
                { .words = &ald_probe_words_rdma, .id = PEER, .port = "mlx5_0.1", .peer_port = "mlx5_1.1" },
                { .words = &ald_probe_words_compute, .id = "", .metrics = metrics, .force = true },
        };
        static const char *const expected[] = {
                "ProbeLink '" PEER "' Address=192.0.2.2 asks; GetAll; ",
                "ProbeLink '" PEER "' RttOnly=true; GetAll; ",
                "ProbeRdma '" PEER "' Port=mlx5_0.1 PeerPort=mlx5_1.1; GetAll; ",
                "ProbeCompute '' Metrics=gemm,read Force=true; GetAll; ",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(calls); i++) {
                start(fixture, &calls[i]);
                assert_seen(fixture, expected[i], "running rtt 0.25; ");
                g_clear_pointer(&fixture->run, ald_job_run_free);
                pump(fixture);
                assert_seen(fixture, "", "");
        }
}

static void test_refused(Fixture *fixture, const void *data)
{
        fixture->refused = "ProbeLink";
        fixture->error = SD_BUS_ERROR_ACCESS_DENIED;
        start_link(fixture);
        assert_seen(fixture, "ProbeLink '" PEER "'; ", "ended: " SD_BUS_ERROR_ACCESS_DENIED);
}

static void test_wrong_shape(Fixture *fixture, const void *data)
{
        fixture->malformed = "ProbeLink";
        start_link(fixture);
        assert_seen(fixture, "ProbeLink '" PEER "'; ", "ended: " SD_BUS_ERROR_INCONSISTENT_MESSAGE);
        fixture->malformed = "GetAll";
        start_link(fixture);
        assert_seen(fixture, "ProbeLink '" PEER "'; GetAll; ", "ended: " SD_BUS_ERROR_INCONSISTENT_MESSAGE);
}

static void test_canceled(Fixture *fixture, const void *data)
{
        start_link(fixture);
        assert_begun(fixture);
        fixture->state = "canceled";
        ald_job_run_cancel(fixture->run);
        ald_job_run_cancel(fixture->run);
        assert_seen(fixture, "Cancel; GetAll; ", "ended: canceled 5");
}

static void test_cancel_is_refused(Fixture *fixture, const void *data)
{
        start_link(fixture);
        assert_begun(fixture);
        fixture->refused = "Cancel";
        fixture->error = SD_BUS_ERROR_ACCESS_DENIED;
        ald_job_run_cancel(fixture->run);
        assert_seen(fixture, "Cancel; ", "ended: " SD_BUS_ERROR_ACCESS_DENIED);
}

static void test_does_not_stop(Fixture *fixture, const void *data)
{
        fixture->held = "ProbeLink";
        start_link(fixture);
        ald_job_run_cancel(fixture->run);
        assert_seen(fixture, "ProbeLink '" PEER "'; ", "");
        g_assert_false(ald_job_run_has_started(fixture->run));
        pass_time(fixture);
        assert_seen(fixture, "", "ended: " ALD_JOB_NOT_STOPPED);
}

/* Of a call that is answered late. */
static void answer_waiting(Fixture *fixture)
{
        g_autoptr(AldMessage) call = g_steal_pointer(&fixture->waiting);

        g_assert_nonnull(call);
        answer(fixture, call);
        pump(fixture);
}

static void test_canceled_before_it_starts(Fixture *fixture, const void *data)
{
        fixture->held = "ProbeLink";
        start_link(fixture);
        ald_job_run_cancel(fixture->run);
        fixture->state = "canceled";
        answer_waiting(fixture);
        assert_seen(fixture, "ProbeLink '" PEER "'; Cancel; GetAll; ", "ended: canceled 5");
}

/* A person who is asked for a password may cancel, and close the window. */
static void test_canceled_and_freed_before_it_starts(Fixture *fixture, const void *data)
{
        fixture->held = "ProbeLink";
        start_link(fixture);
        ald_job_run_cancel(fixture->run);
        g_clear_pointer(&fixture->run, ald_job_run_free);
        answer_waiting(fixture);
        assert_seen(fixture, "ProbeLink '" PEER "'; Cancel; ", "");
        fixture->refused = "ProbeLink";
        fixture->error = SD_BUS_ERROR_ACCESS_DENIED;
        start_link(fixture);
        ald_job_run_cancel(fixture->run);
        g_clear_pointer(&fixture->run, ald_job_run_free);
        answer_waiting(fixture);
        assert_seen(fixture, "ProbeLink '" PEER "'; ", "");
}

static void test_freed_before_it_starts(Fixture *fixture, const void *data)
{
        fixture->held = "ProbeLink";
        start_link(fixture);
        g_clear_pointer(&fixture->run, ald_job_run_free);
        answer_waiting(fixture);
        assert_seen(fixture, "ProbeLink '" PEER "'; ", "");
}

static void test_service_disappears(Fixture *fixture, const void *data)
{
        start_link(fixture);
        assert_begun(fixture);
        signal_owner(fixture, OWNER, "");
        assert_seen(fixture, "", "ended: " SD_BUS_ERROR_DISCONNECTED);
}

/* A service that has said nothing for a while is asked. */
static void test_job_disappears(Fixture *fixture, const void *data)
{
        start_link(fixture);
        assert_begun(fixture);
        pass_time(fixture);
        assert_seen(fixture, "GetAll; ", "running rtt 0.25; ");
        fixture->refused = "GetAll";
        fixture->error = SD_BUS_ERROR_UNKNOWN_OBJECT;
        pass_time(fixture);
        assert_seen(fixture, "GetAll; ", "ended: " SD_BUS_ERROR_FAILED);
}

/* The service removes a job some time after its end. */
static void test_canceled_job_disappears(Fixture *fixture, const void *data)
{
        start_link(fixture);
        assert_begun(fixture);
        fixture->refused = "GetAll";
        fixture->error = SD_BUS_ERROR_UNKNOWN_OBJECT;
        ald_job_run_cancel(fixture->run);
        assert_seen(fixture, "Cancel; GetAll; ", "ended: running 5");
}

static void add(const char *path, void (*test)(Fixture *fixture, const void *data))
{
        g_test_add(path, Fixture, NULL, set_up, test, tear_down);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        add("/clients/job-run/from-start-to-end", test_from_start_to_end);
        add("/clients/job-run/over-at-once", test_over_at_once);
        add("/clients/job-run/only-the-service-is-believed", test_only_the_service_is_believed);
        add("/clients/job-run/options", test_options);
        add("/clients/job-run/refused", test_refused);
        add("/clients/job-run/wrong-shape", test_wrong_shape);
        add("/clients/job-run/canceled", test_canceled);
        add("/clients/job-run/cancel-is-refused", test_cancel_is_refused);
        add("/clients/job-run/does-not-stop", test_does_not_stop);
        add("/clients/job-run/canceled-before-it-starts", test_canceled_before_it_starts);
        add("/clients/job-run/canceled-and-freed-before-it-starts", test_canceled_and_freed_before_it_starts);
        add("/clients/job-run/freed-before-it-starts", test_freed_before_it_starts);
        add("/clients/job-run/service-disappears", test_service_disappears);
        add("/clients/job-run/job-disappears", test_job_disappears);
        add("/clients/job-run/canceled-job-disappears", test_canceled_job_disappears);
        return g_test_run();
}
