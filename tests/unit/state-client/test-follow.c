/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/bus-cleanup.h"
#include "common/bus-names.h"
#include "common/bus-source.h"
#include "state-client/state-client.h"
#include "tests/unit/bus-pair.h"

#define A "00000000000000000000000000000001"
#define B "00000000000000000000000000000002"
#define NODE_PATH ALD_STATE_PATH "/node/" A
#define MEMORY_INTERFACE "org.alidade.Node1.Memory"
#define OWNER ":1.5"
#define PROPERTIES "org.freedesktop.DBus.Properties"

/* A client, and the state service and bus daemon that are played to it, all in a context of their own. */
typedef struct Fixture {
        GMainContext *context;
        BusPair *pair;   /* NULL while the client is not connected */
        GSource *source; /* of the service's end */
        uint64_t available;
        unsigned connections, snapshots, subscriptions;
        AldModel *model;
        AldStateClient *client;
        unsigned synced, lost;
        const char *refused; /* the member that is answered with LimitsExceeded, or NULL */
        bool malformed;      /* findings are sent in another type */
        bool is_newer;       /* the second page of descriptions has a field that only a newer version knows */
        unsigned pages;      /* of descriptions; none are given while this is 0 */
        unsigned described;  /* pages that were asked for */
        GString *told;
} Fixture;

static int append_objects(sd_bus_message *reply, Fixture *fixture)
{
        return sd_bus_message_append(reply, "a{oa{sa{sv}}}", 1, NODE_PATH, 1, MEMORY_INTERFACE, 2,
                "TotalBytes", "t", UINT64_C(64), "AvailableBytes", "t", fixture->available);
}

#define DESCRIPTION(node, fields) \
        "{\"node\":\"" node       \
        "\",\"kind\":\"Node1.Memory\",\"epoch\":1,\"seq\":1,\"updated\":1,\"fields\":{" fields "}}\n"

static int append_page(sd_bus_message *reply, Fixture *fixture)
{
        const char *lines = fixture->described == 0 ? DESCRIPTION(A, "\"AvailableBytes\":17")
                            : fixture->is_newer     ? DESCRIPTION(B, "\"AvailableBytes\":18,\"Later\":1")
                                                    : DESCRIPTION(B, "\"AvailableBytes\":18");
        int r = sd_bus_message_append(reply, "s", ++fixture->described < fixture->pages ? "more" : "");

        return r < 0 ? r : sd_bus_message_append_array(reply, 'y', lines, strlen(lines));
}

static int append_reply(sd_bus_message *reply, const char *member, Fixture *fixture)
{
        if (g_str_equal(member, "GetNameOwner"))
                return sd_bus_message_append(reply, "s", OWNER);
        if (g_str_equal(member, "GetAll"))
                return sd_bus_message_append(reply, "a{sv}", 1, "NodeId", "s", A);
        if (g_str_equal(member, "GetFindings"))
                return sd_bus_message_append(reply, fixture->malformed ? "as" : "aa{sv}", 0);
        if (g_str_equal(member, "Subscribe"))
                fixture->subscriptions++;
        if (g_str_equal(member, "DescribeRecords"))
                return append_page(reply, fixture);
        if (!g_str_equal(member, "GetManagedObjects"))
                return 0;
        fixture->snapshots++;
        return append_objects(reply, fixture);
}

static int on_call(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        g_autoptr(AldMessage) reply = NULL;
        Fixture *fixture = userdata;

        if (sd_bus_message_is_method_call(call, NULL, NULL) <= 0)
                return 0;
        if (g_strcmp0(sd_bus_message_get_member(call), fixture->refused) == 0)
                return sd_bus_reply_method_errorf(call, SD_BUS_ERROR_LIMITS_EXCEEDED, "too many");
        if (fixture->pages == 0 && g_strcmp0(sd_bus_message_get_member(call), "DescribeRecords") == 0)
                return sd_bus_reply_method_errorf(call, SD_BUS_ERROR_UNKNOWN_METHOD, "an older version");
        g_assert_cmpint(sd_bus_message_new_method_return(call, &reply), >=, 0);
        g_assert_cmpint(append_reply(reply, sd_bus_message_get_member(call), fixture), >=, 0);
        g_assert_cmpint(sd_bus_send(NULL, reply, NULL), >=, 0);
        return 1;
}

static void on_closed(sd_bus *bus, int error, void *userdata)
{
}

static void end_connection(Fixture *fixture)
{
        if (!fixture->pair)
                return;
        g_source_destroy(fixture->source);
        g_clear_pointer(&fixture->source, g_source_unref);
        g_clear_pointer(&fixture->pair, bus_pair_free);
}

static int open_pair(sd_bus **ret, void *userdata)
{
        Fixture *fixture = userdata;

        end_connection(fixture);
        fixture->pair = bus_pair_new();
        fixture->connections++;
        g_assert_cmpint(sd_bus_add_filter(fixture->pair->service, NULL, on_call, fixture), >=, 0);
        g_main_context_push_thread_default(fixture->context);
        fixture->source = ald_bus_source_new(fixture->pair->service, on_closed, NULL);
        g_main_context_pop_thread_default(fixture->context);
        *ret = sd_bus_ref(fixture->pair->client);
        return 0;
}

static void on_synced(AldFollow *follow, void *userdata)
{
        Fixture *fixture = userdata;

        g_assert_true(ald_follow_in_step(follow));
        fixture->synced++;
}

static void on_lost(AldFollow *follow, const sd_bus_error *error, void *userdata)
{
        Fixture *fixture = userdata;

        fixture->lost++;
        g_assert_true(sd_bus_error_has_name(error, fixture->refused     ? SD_BUS_ERROR_LIMITS_EXCEEDED
                                                   : fixture->malformed ? SD_BUS_ERROR_INCONSISTENT_MESSAGE
                                                                        : SD_BUS_ERROR_DISCONNECTED));
}

static void on_refused(AldFollow *follow, const sd_bus_error *error, void *userdata)
{
        Fixture *fixture = userdata;

        g_string_append(fixture->told, error ? "refused " : "accepted ");
}

static void on_changed(AldModel *model, const AldChange *change, void *userdata)
{
        const AldMemory *memory = ald_record_as(change->record, MEMORY, AldMemory);
        Fixture *fixture = userdata;

        if (memory)
                g_string_append_printf(fixture->told, "%s%" G_GUINT64_FORMAT " ",
                        change->type == ALD_CHANGE_ADDED ? "+" : "", memory->available_bytes);
}

static void set_up(Fixture *fixture, const void *data)
{
        static const AldFollowHandler handler = {
                .synced = on_synced, .lost = on_lost, .refused = on_refused
        };
        const AldStateClientSetup setup = { .open = open_pair,
                .open_userdata = fixture,
                .handler = &handler,
                .userdata = fixture,
                .subscribe = true };

        fixture->context = g_main_context_new();
        g_main_context_push_thread_default(fixture->context);
        fixture->available = 16;
        fixture->told = g_string_new(NULL);
        fixture->model = ald_model_new();
        ald_model_watch(fixture->model, on_changed, fixture);
        g_assert_cmpint(ald_state_client_new(fixture->model, &setup, &fixture->client), ==, 0);
}

static void tear_down(Fixture *fixture, const void *data)
{
        ald_state_client_free(fixture->client);
        end_connection(fixture);
        ald_model_free(fixture->model);
        g_string_free(fixture->told, TRUE);
        g_main_context_pop_thread_default(fixture->context);
        g_main_context_unref(fixture->context);
}

static void wait_for(Fixture *fixture, unsigned synced)
{
        while (fixture->synced < synced)
                (void) g_main_context_iteration(fixture->context, TRUE);
}

static void assert_told(Fixture *fixture, const char *expected)
{
        g_assert_cmpstr(fixture->told->str, ==, expected);
        g_string_truncate(fixture->told, 0);
}

/* PropertiesChanged, as it comes to those who subscribed. */
static void signal_available(Fixture *fixture, const char *sender, uint64_t available)
{
        g_autoptr(AldMessage) signal = NULL;

        g_assert_cmpint(sd_bus_message_new_signal(
                                fixture->pair->service, &signal, NODE_PATH, PROPERTIES, "PropertiesChanged"),
                >=, 0);
        g_assert_cmpint(sd_bus_message_set_sender(signal, sender), >=, 0);
        g_assert_cmpint(sd_bus_message_set_destination(signal, ":1.9"), >=, 0);
        g_assert_cmpint(sd_bus_message_append(
                                signal, "sa{sv}as", MEMORY_INTERFACE, 1, "AvailableBytes", "t", available, 0),
                >=, 0);
        g_assert_cmpint(sd_bus_send(fixture->pair->service, signal, NULL), >=, 0);
}

static void pump(Fixture *fixture)
{
        while (g_main_context_iteration(fixture->context, FALSE))
                ;
}

static void test_snapshot(Fixture *fixture, const void *data)
{
        const AldMemory *memory;

        wait_for(fixture, 1);
        g_assert_cmpstr(ald_model_node_id(fixture->model), ==, A);
        memory = ald_entity_as(ald_model_get(fixture->model, A), MEMORY, AldMemory);
        g_assert_cmpuint(memory->total_bytes, ==, 64);
        assert_told(fixture, "+16 ");
        g_assert_cmpuint(fixture->subscriptions, ==, 1);
        /* All of it ran in the context of the thread. */
        g_assert_false(g_main_context_pending(NULL));
}

static void test_descriptions(Fixture *fixture, const void *data)
{
        fixture->pages = 3;
        wait_for(fixture, 1);
        assert_told(fixture, "+17 +18 ");
        g_assert_cmpuint(fixture->described, ==, 3);
        g_assert_cmpuint(fixture->snapshots, ==, 0);
}

/* The client falls back to structs, so that no field is lost. */
static void test_descriptions_of_a_newer_service(Fixture *fixture, const void *data)
{
        fixture->pages = 3;
        fixture->is_newer = true;
        wait_for(fixture, 1);
        assert_told(fixture, "+16 ");
        g_assert_null(ald_model_get(fixture->model, B));
        g_assert_cmpuint(fixture->snapshots, ==, 1);
}

static void test_descriptions_without_end(Fixture *fixture, const void *data)
{
        fixture->pages = G_MAXUINT;
        fixture->malformed = true;
        while (fixture->lost == 0)
                g_main_context_iteration(fixture->context, TRUE);
        g_assert_cmpuint(fixture->described, <=, 100001);
}

static void test_only_the_owner_is_believed(Fixture *fixture, const void *data)
{
        wait_for(fixture, 1);
        g_string_truncate(fixture->told, 0);
        signal_available(fixture, ":1.6", 1);
        signal_available(fixture, OWNER, 15);
        pump(fixture);
        assert_told(fixture, "15 ");
}

static void test_pause_and_resume(Fixture *fixture, const void *data)
{
        wait_for(fixture, 1);
        g_string_truncate(fixture->told, 0);
        ald_state_client_pause_soon(fixture->client);
        g_assert_nonnull(ald_state_client_follow(fixture->client));
        pump(fixture);
        g_assert_null(ald_state_client_follow(fixture->client));
        g_assert_cmpint(sd_bus_is_open(fixture->pair->client), ==, 0);
        /* It keeps what it has. */
        g_assert_nonnull(ald_model_get(fixture->model, A));
        fixture->available = 9;
        g_assert_cmpint(ald_state_client_resume(fixture->client), ==, 0);
        wait_for(fixture, 2);
        assert_told(fixture, "9 ");
        g_assert_cmpuint(fixture->connections, ==, 2);
        g_assert_cmpuint(fixture->snapshots, ==, 2);
        g_assert_cmpuint(fixture->subscriptions, ==, 2);
        g_assert_cmpuint(fixture->lost, ==, 0);
}

static void test_resume_in_another_context(Fixture *fixture, const void *data)
{
        GMainContext *other = g_main_context_new();

        wait_for(fixture, 1);
        ald_state_client_pause(fixture->client);
        g_main_context_push_thread_default(other);
        g_assert_cmpint(ald_state_client_resume(fixture->client), ==, 0);
        g_main_context_pop_thread_default(other);
        g_assert_false(g_main_context_pending(other));
        wait_for(fixture, 2);
        g_main_context_unref(other);
}

/* What is in the way may be gone before the bus was left. */
static void test_resume_in_time(Fixture *fixture, const void *data)
{
        wait_for(fixture, 1);
        ald_state_client_pause_soon(fixture->client);
        g_assert_cmpint(ald_state_client_resume(fixture->client), ==, 0);
        pump(fixture);
        g_assert_nonnull(ald_state_client_follow(fixture->client));
        g_assert_cmpuint(fixture->connections, ==, 1);
}

static void subscribe_again(Fixture *fixture, const char *refused)
{
        fixture->refused = refused;
        ald_follow_subscribe(ald_state_client_follow(fixture->client), true);
        pump(fixture);
}

/* That the other one is accepted does not count. */
static void test_refused_request(Fixture *fixture, const void *data)
{
        wait_for(fixture, 1);
        pump(fixture);
        g_string_truncate(fixture->told, 0);
        subscribe_again(fixture, "Subscribe");
        assert_told(fixture, "refused ");
        subscribe_again(fixture, "Subscribe");
        assert_told(fixture, "refused ");
        subscribe_again(fixture, NULL);
        assert_told(fixture, "accepted ");
        subscribe_again(fixture, "Mirror");
        assert_told(fixture, "refused ");
        subscribe_again(fixture, "Mirror");
        assert_told(fixture, "refused ");
        subscribe_again(fixture, NULL);
        assert_told(fixture, "accepted ");
}

/* The client reports the end once, keeps what it has, and can connect again. */
static void assert_lost_and_resume(Fixture *fixture)
{
        while (fixture->lost == 0)
                (void) g_main_context_iteration(fixture->context, TRUE);
        pump(fixture);
        g_assert_cmpuint(fixture->lost, ==, 1);
        g_assert_false(ald_follow_in_step(ald_state_client_follow(fixture->client)));
        g_assert_nonnull(ald_model_get(fixture->model, A));
        g_assert_cmpint(ald_state_client_resume(fixture->client), ==, 0);
        wait_for(fixture, 2);
        g_assert_cmpuint(fixture->connections, ==, 2);
}

static void read_again_and_fail(Fixture *fixture)
{
        unsigned before = fixture->lost;

        ald_state_client_pause(fixture->client);
        g_assert_cmpint(ald_state_client_resume(fixture->client), ==, 0);
        while (fixture->lost == before)
                (void) g_main_context_iteration(fixture->context, TRUE);
        g_assert_false(ald_follow_in_step(ald_state_client_follow(fixture->client)));
}

/* That is not known to be none. */
static void test_findings_that_cannot_be_read(Fixture *fixture, const void *data)
{
        wait_for(fixture, 1);
        fixture->refused = "GetFindings";
        read_again_and_fail(fixture);
        fixture->refused = NULL;
        fixture->malformed = true;
        read_again_and_fail(fixture);
        fixture->malformed = false;
        g_assert_cmpuint(fixture->synced, ==, 1);
        wait_for(fixture, 2); /* without being told to */
        g_assert_cmpuint(fixture->lost, ==, 2);
}

static void test_end_of_the_bus(Fixture *fixture, const void *data)
{
        wait_for(fixture, 1);
        sd_bus_close(fixture->pair->service);
        assert_lost_and_resume(fixture);
}

/* The connection stays open, but nothing more can be read from it. */
static void test_broken_stream(Fixture *fixture, const void *data)
{
        static const char garbage[] = "this is not a message of D-Bus";

        wait_for(fixture, 1);
        g_assert_cmpint(
                write(sd_bus_get_fd(fixture->pair->service), garbage, sizeof garbage), ==, sizeof garbage);
        assert_lost_and_resume(fixture);
}

static void add(const char *path, void (*test)(Fixture *fixture, const void *data))
{
        g_test_add(path, Fixture, NULL, set_up, test, tear_down);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        add("/client/follow/snapshot", test_snapshot);
        add("/client/follow/descriptions", test_descriptions);
        add("/client/follow/descriptions-of-a-newer-service", test_descriptions_of_a_newer_service);
        add("/client/follow/descriptions-without-end", test_descriptions_without_end);
        add("/client/follow/only-the-owner-is-believed", test_only_the_owner_is_believed);
        add("/client/follow/pause-and-resume", test_pause_and_resume);
        add("/client/follow/resume-in-another-context", test_resume_in_another_context);
        add("/client/follow/resume-in-time", test_resume_in_time);
        add("/client/follow/refused-request", test_refused_request);
        add("/client/follow/findings-that-cannot-be-read", test_findings_that_cannot_be_read);
        add("/client/follow/end-of-the-bus", test_end_of_the_bus);
        add("/client/follow/broken-stream", test_broken_stream);
        return g_test_run();
}
