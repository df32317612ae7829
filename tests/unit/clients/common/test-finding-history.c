/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "clients/common/finding-history.h"
#include "clients/common/series-call.h"
#include "common/bus-cleanup.h"
#include "common/bus-names.h"
#include "common/error-names.h"
#include "tests/unit/bus-pair.h"

/* The service that is played, of which a call and a reply are looked at without being sent. */
typedef struct Fixture {
        BusPair *pair;
        AldFindingEventQuery query;
} Fixture;

static void set_up(Fixture *fixture, const void *data)
{
        fixture->pair = bus_pair_new();
        ald_finding_event_query_begin(&fixture->query, 100, 1000);
}

static void tear_down(Fixture *fixture, const void *data)
{
        ald_finding_event_query_clear(&fixture->query);
        bus_pair_free(fixture->pair);
}

static void append_event(sd_bus_message *m, uint64_t number, uint64_t began)
{
        g_assert_cmpint(
                sd_bus_message_append(m, "a{sv}", 2, "Event", "t", number, "BeganUSec", "t", began), >=, 0);
}

/* A page with the events 1 … n, which began at 200, 201, …; `first` is the number of the first. */
static sd_bus_message *page_new(Fixture *fixture, uint64_t first, unsigned n, unsigned findings, bool more)
{
        sd_bus_message *m = bus_pair_message_new(fixture->pair);

        g_assert_cmpint(sd_bus_message_open_container(m, SD_BUS_TYPE_ARRAY, "a{sv}"), >=, 0);
        for (unsigned i = 0; i < n; i++)
                append_event(m, first + i, 199 + first + i);
        g_assert_cmpint(sd_bus_message_close_container(m), >=, 0);
        g_assert_cmpint(sd_bus_message_open_container(m, SD_BUS_TYPE_ARRAY, "a{sv}"), >=, 0);
        for (unsigned i = 0; i < findings; i++)
                g_assert_cmpint(
                        sd_bus_message_append(m, "a{sv}", 2, "Id", "s", "gpu-hot", "New", "u", 5), >=, 0);
        g_assert_cmpint(sd_bus_message_close_container(m), >=, 0);
        g_assert_cmpint(sd_bus_message_append(m, "b", more), >=, 0);
        bus_pair_seal(m);
        return m;
}

static int read_page(
        Fixture *fixture, uint64_t first, unsigned n, unsigned findings, bool more, AldFindingEventsRead *ret)
{
        g_autoptr(AldMessage) page = page_new(fixture, first, n, findings, more);

        return ald_finding_event_query_read(&fixture->query, page, ret);
}

static void assert_next_page(Fixture *fixture, uint64_t from_usec)
{
        g_autoptr(AldMessage) call = NULL;
        uint64_t from, to;

        g_assert_cmpint(ald_finding_event_query_make(fixture->pair->service, &fixture->query, &call), >=, 0);
        g_assert_cmpstr(sd_bus_message_get_member(call), ==, "GetEvents");
        bus_pair_seal(call);
        g_assert_cmpint(sd_bus_message_read(call, "tt", &from, &to), >, 0);
        g_assert_cmpuint(from, ==, from_usec);
        g_assert_cmpuint(to, ==, 1000);
}

/* The second page repeats the last event of the first. */
static void test_pages(Fixture *fixture, const void *data)
{
        AldFindingEventsRead found;
        const AldFindingEvent *last;

        assert_next_page(fixture, 100);
        g_assert_cmpint(read_page(fixture, 1, 3, 3, true, &found), ==, 0);
        g_assert_cmpint(found, ==, ALD_FINDING_EVENTS_MORE);
        assert_next_page(fixture, 202);
        g_assert_cmpint(read_page(fixture, 3, 2, 2, false, &found), ==, 0);
        g_assert_cmpint(found, ==, ALD_FINDING_EVENTS_ALL);
        g_assert_cmpuint(fixture->query.events->len, ==, 4);
        last = fixture->query.events->pdata[3];
        g_assert_cmpuint(last->times.event, ==, 4);
        g_assert_cmpstr(last->row->id, ==, "gpu-hot");
        g_assert_cmpint(json_integer_value(json_object_get(last->finding, "New")), ==, 5);
}

/* All that fits into a page lasted at the time at which the page begins. */
static void test_page_that_leads_nowhere(Fixture *fixture, const void *data)
{
        AldFindingEventsRead found;

        g_assert_cmpint(read_page(fixture, 1, 3, 3, true, &found), ==, 0);
        g_assert_cmpint(read_page(fixture, 1, 3, 3, true, &found), ==, 0);
        g_assert_cmpint(found, ==, ALD_FINDING_EVENTS_CUT);
        g_assert_cmpuint(fixture->query.events->len, ==, 3);
}

static void test_wrong_shape(Fixture *fixture, const void *data)
{
        g_autoptr(AldMessage) other = bus_pair_message_new(fixture->pair);
        AldFindingEventsRead found = ALD_FINDING_EVENTS_MORE;

        g_assert_cmpint(read_page(fixture, 1, 3, 2, false, &found), ==, -EBADMSG);
        g_assert_cmpint(sd_bus_message_append(other, "s", "hello"), >=, 0);
        bus_pair_seal(other);
        g_assert_cmpint(ald_finding_event_query_read(&fixture->query, other, &found), ==, -EBADMSG);
        g_assert_cmpint(found, ==, ALD_FINDING_EVENTS_MORE);
        g_assert_cmpuint(fixture->query.events->len, ==, 0);
}

static void test_silences(Fixture *fixture, const void *data)
{
        const AldSilenceCall begins = {
                .node = "a", .peer = "", .until_usec = 7, .reason = "repair", .asks = true
        };
        const AldSilenceCall ends = { .ends = true, .node = "a", .peer = "b" };
        g_autoptr(AldMessage) silence = NULL, unsilence = NULL;
        const char *node, *peer, *reason;
        uint64_t until;

        g_assert_cmpint(ald_silence_call_make(fixture->pair->service, &begins, &silence), >=, 0);
        g_assert_cmpstr(sd_bus_message_get_member(silence), ==, "Silence");
        g_assert_cmpint(sd_bus_message_get_allow_interactive_authorization(silence), >, 0);
        bus_pair_seal(silence);
        g_assert_cmpint(sd_bus_message_read(silence, "ssts", &node, &peer, &until, &reason), >, 0);
        g_assert_cmpstr(reason, ==, "repair");
        g_assert_cmpuint(until, ==, 7);
        g_assert_cmpint(ald_silence_call_make(fixture->pair->service, &ends, &unsilence), >=, 0);
        g_assert_cmpstr(sd_bus_message_get_member(unsilence), ==, "Unsilence");
        g_assert_cmpint(sd_bus_message_get_allow_interactive_authorization(unsilence), ==, 0);
        bus_pair_seal(unsilence);
        g_assert_cmpint(sd_bus_message_has_signature(unsilence, "ss"), >, 0);
        g_assert_cmpint(sd_bus_message_read(unsilence, "ss", &node, &peer), >, 0);
        g_assert_cmpstr(peer, ==, "b");
}

static void add_series(GPtrArray *list, const char *field)
{
        AldShownSeries *series = g_new0(AldShownSeries, 1);

        series->node = g_strdup("a");
        series->kind = ALD_KIND_MEMORY;
        series->key = g_strdup("");
        series->field = g_strdup(field);
        g_ptr_array_add(list, series);
}

static GPtrArray *series_list_new(unsigned n)
{
        GPtrArray *list = ald_shown_series_list_new();

        for (unsigned i = 0; i < n; i++) {
                g_autofree char *field = g_strdup_printf("Field%u", i);

                add_series(list, field);
        }
        return list;
}

/* How many series the next call is for. */
static unsigned count_called(Fixture *fixture, const AldSeriesReading *reading)
{
        g_autoptr(AldMessage) call = NULL;
        const char *node, *kind, *key, *field;
        unsigned n = 0;

        g_assert_cmpint(ald_series_reading_make(fixture->pair->service, reading, &call), >=, 0);
        g_assert_cmpstr(sd_bus_message_get_destination(call), ==, ALD_HISTORY_NAME);
        g_assert_cmpstr(sd_bus_message_get_member(call), ==, "GetSeveralSeries");
        bus_pair_seal(call);
        g_assert_cmpint(sd_bus_message_has_signature(call, "a(ssss)ttu"), >, 0);
        g_assert_cmpint(sd_bus_message_enter_container(call, SD_BUS_TYPE_ARRAY, "(ssss)"), >, 0);
        while (sd_bus_message_read(call, "(ssss)", &node, &kind, &key, &field) > 0) {
                const AldShownSeries *series = reading->series->pdata[reading->n_read + n++];

                g_assert_cmpstr(kind, ==, "Node1.Memory");
                g_assert_cmpstr(field, ==, series->field);
        }
        return n;
}

/* Of three series, the first has a point, the second none, and the third is not kept, and so on. */
static sd_bus_message *several_new(Fixture *fixture, unsigned n)
{
        sd_bus_message *reply = bus_pair_message_new(fixture->pair);

        g_assert_cmpint(sd_bus_message_open_container(reply, SD_BUS_TYPE_ARRAY, "(baa{sv})"), >=, 0);
        for (unsigned i = 0; i < n; i++)
                g_assert_cmpint(i % 3 == 0 ? sd_bus_message_append(reply, "(baa{sv})", true, 1, 2, "TimeUSec",
                                                     "t", UINT64_C(160), "Mean", "d", (double) i)
                                           : sd_bus_message_append(reply, "(baa{sv})", i % 3 == 1, 0),
                        >=, 0);
        g_assert_cmpint(sd_bus_message_close_container(reply), >=, 0);
        bus_pair_seal(reply);
        return reply;
}

static int take_several(Fixture *fixture, AldSeriesReading *reading, unsigned n)
{
        g_autoptr(AldMessage) reply = several_new(fixture, n);

        return ald_series_reading_take(reading, reply, NULL);
}

static void test_several_series(Fixture *fixture, const void *data)
{
        g_autoptr(GPtrArray) list = series_list_new(70);
        AldSeriesReading reading = { .series = list, .from_usec = 100, .to_usec = 1000, .points = 60 };

        g_assert_cmpuint(count_called(fixture, &reading), ==, 64);
        g_assert_cmpint(take_several(fixture, &reading, 64), ==, 0);
        g_assert_false(ald_series_reading_is_complete(&reading));
        g_assert_cmpuint(count_called(fixture, &reading), ==, 6);
        g_assert_cmpint(take_several(fixture, &reading, 6), ==, 0);
        g_assert_true(ald_series_reading_is_complete(&reading));
        for (unsigned i = 0; i < list->len; i++) {
                const AldShownSeries *series = list->pdata[i];
                unsigned of_call = i % 64;

                g_assert_true((series->points == NULL) == (of_call % 3 == 2));
                if (of_call % 3 == 0)
                        g_assert_cmpfloat(
                                g_array_index(series->points, AldHistoryPoint, 0).mean, ==, of_call);
        }
}

/* A service refuses more than 10000 points, and one series may have as many. */
static void test_many_points(Fixture *fixture, const void *data)
{
        g_autoptr(GPtrArray) list = series_list_new(70);
        AldSeriesReading reading = { .series = list, .to_usec = 1000, .points = 3000 };

        g_assert_cmpuint(count_called(fixture, &reading), ==, 3);
        reading.points = 10000;
        g_assert_cmpuint(count_called(fixture, &reading), ==, 1);
}

static void test_several_of_the_wrong_shape(Fixture *fixture, const void *data)
{
        for (unsigned n = 0; n <= 4; n++) {
                g_autoptr(GPtrArray) list = series_list_new(3);
                AldSeriesReading reading = { .series = list, .to_usec = 1000, .points = 3000 };

                g_assert_true((take_several(fixture, &reading, n) >= 0) == (n == 3));
        }
}

static void assert_single(Fixture *fixture, const AldSeriesReading *reading)
{
        g_autoptr(AldMessage) call = NULL;

        g_assert_cmpint(ald_series_reading_make(fixture->pair->service, reading, &call), >=, 0);
        g_assert_cmpstr(sd_bus_message_get_member(call), ==, "GetSeries");
        bus_pair_seal(call);
        g_assert_cmpint(sd_bus_message_has_signature(call, "ssssttu"), >, 0);
}

static void test_series_of_an_older_service(Fixture *fixture, const void *data)
{
        static const sd_bus_error unknown = SD_BUS_ERROR_MAKE_CONST(SD_BUS_ERROR_UNKNOWN_METHOD, "none"),
                                  not_kept = SD_BUS_ERROR_MAKE_CONST(ALD_ERROR_NOT_KEPT, "not kept");
        g_autoptr(GPtrArray) list = series_list_new(2);
        g_autoptr(AldMessage) reply = bus_pair_message_new(fixture->pair);
        AldSeriesReading reading = { .series = list, .from_usec = 100, .to_usec = 1000, .points = 60 };
        const AldShownSeries *kept = list->pdata[0], *refused = list->pdata[1];

        g_assert_cmpint(ald_series_reading_take(&reading, NULL, &unknown), ==, 0);
        assert_single(fixture, &reading);
        /* The second has no time, the third no values. */
        g_assert_cmpint(sd_bus_message_append(reply, "aa{sv}", 3, 2, "TimeUSec", "t", UINT64_C(160), "Mean",
                                "d", 2.5, 1, "Mean", "d", 3.5, 1, "TimeUSec", "t", UINT64_C(220)),
                >=, 0);
        bus_pair_seal(reply);
        g_assert_cmpint(ald_series_reading_take(&reading, reply, NULL), ==, 0);
        assert_single(fixture, &reading);
        g_assert_cmpint(ald_series_reading_take(&reading, NULL, &not_kept), ==, 0);
        g_assert_true(ald_series_reading_is_complete(&reading));
        g_assert_null(refused->points);
        g_assert_cmpuint(kept->points->len, ==, 2);
        g_assert_cmpfloat(g_array_index(kept->points, AldHistoryPoint, 0).mean, ==, 2.5);
        g_assert_cmpuint(g_array_index(kept->points, AldHistoryPoint, 1).time_usec, ==, 220);
}

/* Only where the first figure of a node is refused is it asked for no other one. */
static void test_node_that_an_older_service_does_not_record(Fixture *fixture, const void *data)
{
        static const sd_bus_error not_kept = SD_BUS_ERROR_MAKE_CONST(ALD_ERROR_NOT_KEPT, "not kept");
        g_autoptr(GPtrArray) list = series_list_new(7);
        AldSeriesReading reading = { .series = list, .to_usec = 1000, .points = 60, .one_by_one = true };
        g_autoptr(AldMessage) reply = bus_pair_message_new(fixture->pair);

        /* Three of a node, one of its links, three of another node. */
        for (unsigned i = 3; i < 7; i++) {
                AldShownSeries *series = list->pdata[i];
                char **differs = i == 3 ? &series->key : &series->node;

                g_free(*differs);
                *differs = g_strdup("b");
        }
        g_assert_cmpint(sd_bus_message_append(reply, "aa{sv}", 0), >=, 0);
        bus_pair_seal(reply);
        g_assert_cmpint(ald_series_reading_take(&reading, NULL, &not_kept), ==, 0);
        g_assert_cmpuint(reading.n_read, ==, 3);
        g_assert_cmpint(ald_series_reading_take(&reading, NULL, &not_kept), ==, 0);
        g_assert_cmpuint(reading.n_read, ==, 4);
        g_assert_cmpint(ald_series_reading_take(&reading, reply, NULL), ==, 0);
        g_assert_cmpint(ald_series_reading_take(&reading, NULL, &not_kept), ==, 0);
        g_assert_cmpuint(reading.n_read, ==, 6);
        assert_single(fixture, &reading);
        g_assert_cmpint(ald_series_reading_take(&reading, NULL, &not_kept), ==, 0);
        g_assert_true(ald_series_reading_is_complete(&reading));
        for (unsigned i = 0; i < list->len; i++)
                g_assert_true((((AldShownSeries *) list->pdata[i])->points != NULL) == (i == 4));
}

/* What knows neither call is no history service. */
static void test_series_that_cannot_be_read(Fixture *fixture, const void *data)
{
        static const sd_bus_error unknown = SD_BUS_ERROR_MAKE_CONST(SD_BUS_ERROR_UNKNOWN_METHOD, "none"),
                                  not_stored = SD_BUS_ERROR_MAKE_CONST(ALD_ERROR_NOT_STORED, "damaged");
        g_autoptr(GPtrArray) list = series_list_new(2);
        AldSeriesReading reading = { .series = list, .from_usec = 100, .to_usec = 1000, .points = 60 };

        g_assert_cmpint(ald_series_reading_take(&reading, NULL, &not_stored), <, 0);
        g_assert_cmpint(ald_series_reading_take(&reading, NULL, &unknown), ==, 0);
        g_assert_cmpint(ald_series_reading_take(&reading, NULL, &unknown), <, 0);
        g_assert_false(ald_series_reading_is_complete(&reading));
}

static void add(const char *path, void (*test)(Fixture *fixture, const void *data))
{
        g_test_add(path, Fixture, NULL, set_up, test, tear_down);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        add("/clients/finding-history/pages", test_pages);
        add("/clients/finding-history/page-that-leads-nowhere", test_page_that_leads_nowhere);
        add("/clients/finding-history/wrong-shape", test_wrong_shape);
        add("/clients/finding-history/silences", test_silences);
        add("/clients/finding-history/several-series", test_several_series);
        add("/clients/finding-history/many-points", test_many_points);
        add("/clients/finding-history/several-of-the-wrong-shape", test_several_of_the_wrong_shape);
        add("/clients/finding-history/series-of-an-older-service", test_series_of_an_older_service);
        add("/clients/finding-history/node-that-an-older-service-does-not-record",
                test_node_that_an_older_service_does_not_record);
        add("/clients/finding-history/series-that-cannot-be-read", test_series_that_cannot_be_read);
        return g_test_run();
}
