/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "common/bus-cleanup.h"
#include "record/record-bus.h"
#include "tests/unit/bus-pair.h"
#include "tests/unit/record-maker.h"

#define ROUNDS 200

static void open_fields(sd_bus_message *message)
{
        g_assert_cmpint(sd_bus_message_open_container(message, 'a', "{sv}"), ==, 0);
}

static void close_fields(sd_bus_message *message)
{
        g_assert_cmpint(sd_bus_message_close_container(message), ==, 0);
        bus_pair_seal(message);
}

/* A message of one entry after the other: name, signature of the variant, value. */
#define add(message, ...) g_assert_cmpint(sd_bus_message_append((message), "{sv}", __VA_ARGS__), >=, 0)

/* Reads what must be a record, to the end of the message. */
static AldRecord *read_good(sd_bus_message *message, AldKind kind, const AldRecord *base)
{
        const char *field = NULL;
        AldRecord *record;

        g_assert_cmpint(ald_record_bus_read(message, kind, base, &record, &field), ==, 0);
        g_assert_null(field);
        g_assert_cmpint(sd_bus_message_at_end(message, true), >, 0);
        return record;
}

/* Reads what must be refused, for this field; the message is left behind it all the same. */
static void assert_refused(sd_bus_message *message, AldKind kind, int error, const char *name)
{
        const char *field = NULL;
        AldRecord *record = NULL;

        g_assert_cmpint(ald_record_bus_read(message, kind, NULL, &record, &field), ==, error);
        g_assert_cmpstr(field, ==, name);
        g_assert_null(record);
        g_assert_cmpint(sd_bus_message_at_end(message, true), >, 0);
}

static void test_round_trip(void)
{
        g_autoptr(BusPair) pair = bus_pair_new();

        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++)
                for (unsigned i = 0; i < ROUNDS; i++) {
                        g_autoptr(AldRecord) record = record_random(kind);
                        g_autoptr(AldMessage) message = bus_pair_message_new(pair);
                        g_autoptr(AldRecord) read = NULL;

                        g_assert_cmpint(ald_record_bus_append(message, record, 0), >=, 0);
                        bus_pair_seal(message);
                        read = read_good(message, kind, NULL);
                        records_assert_same(record, read);
                        g_assert_cmpuint(read->updated_usec, ==, 0);
                }
}

static void test_envelope(void)
{
        g_autoptr(BusPair) pair = bus_pair_new();
        g_autoptr(AldMessage) message = bus_pair_message_new(pair);
        g_autoptr(AldMessage) second = bus_pair_message_new(pair);
        g_autoptr(AldRecord) random = record_random(ALD_KIND_MEMORY);
        g_autoptr(AldRecord) read = NULL;
        g_autoptr(AldRecord) numbered = NULL;

        g_assert_cmpint(ald_record_bus_append(message, random, 1234), >=, 0);
        bus_pair_seal(message);
        read = read_good(message, ALD_KIND_MEMORY, NULL);
        records_assert_same(random, read);
        g_assert_cmpuint(read->updated_usec, ==, 1234);

        open_fields(second);
        add(second, "Revision", "t", UINT64_C(7));
        close_fields(second);
        numbered = read_good(second, ALD_KIND_MEMORY, read);
        g_assert_cmpuint(numbered->revision, ==, 7);
        g_assert_cmpuint(numbered->updated_usec, ==, 1234);
}

static void test_no_record_is_an_empty_map(void)
{
        g_autoptr(BusPair) pair = bus_pair_new();
        g_autoptr(AldMessage) message = bus_pair_message_new(pair);

        g_assert_cmpint(ald_record_bus_append(message, NULL, 0), >=, 0);
        bus_pair_seal(message);
        g_assert_cmpint(sd_bus_message_enter_container(message, 'a', "{sv}"), >, 0);
        g_assert_cmpint(sd_bus_message_at_end(message, false), >, 0);
}

/* What changed, over what was: any record becomes any other by the fields in which they differ. */
static void test_base(void)
{
        g_autoptr(BusPair) pair = bus_pair_new();

        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++)
                for (unsigned i = 0; i < ROUNDS; i++) {
                        g_autoptr(AldRecord) before = record_random(kind);
                        g_autoptr(AldRecord) after = record_random(kind);
                        g_autoptr(AldMessage) message = bus_pair_message_new(pair);
                        g_autoptr(AldRecord) same = NULL;

                        open_fields(message);
                        close_fields(message);
                        same = read_good(message, kind, before);
                        records_assert_same(before, same);

                        g_autoptr(AldMessage) change = bus_pair_message_new(pair);
                        g_autoptr(AldRecord) read = NULL;
                        g_assert_cmpint(ald_record_bus_append(change, after, 0), >=, 0);
                        bus_pair_seal(change);
                        read = read_good(change, kind, before);
                        for (size_t f = 0; f < ald_record_type(after)->n_fields; f++) {
                                const AldField *field = &ald_record_type(after)->fields[f];
                                const void *said = ald_record_field(after, field);
                                const AldRecord *of = ald_field_is_absent(field, said) ? before : after;

                                g_assert_cmpint(ald_field_compare(field, ald_record_field(read, field),
                                                        ald_record_field(of, field)),
                                        ==, 0);
                        }
                }
}

/* What takes the place of a field needs no room beside it. */
static void test_changes_take_no_room(void)
{
        g_autoptr(BusPair) pair = bus_pair_new();

        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++) {
                g_autoptr(AldRecord) record = record_random(kind);

                for (unsigned i = 0; i < ROUNDS; i++) {
                        g_autoptr(AldRecord) next = record_random(kind), made = NULL;
                        g_autoptr(AldMessage) change = bus_pair_message_new(pair);
                        AldRecord *read;

                        g_assert_cmpint(ald_record_bus_append(change, next, 0), >=, 0);
                        bus_pair_seal(change);
                        read = read_good(change, kind, record);
                        ald_record_unref(record);
                        record = read;
                        made = record_make(kind, ald_record_fields(record));
                        g_assert_cmpuint(record->size, ==, made->size);
                }
        }
}

static void test_absent_values(void)
{
        g_autoptr(BusPair) pair = bus_pair_new();
        g_autoptr(AldMessage) message = bus_pair_message_new(pair);
        const AldMemory nothing = ALD_MEMORY_INIT;
        g_autoptr(AldRecord) absent = record_make(ALD_KIND_MEMORY, &nothing);
        g_autoptr(AldRecord) read = NULL;

        open_fields(message);
        add(message, "TotalBytes", "t", UINT64_MAX);
        add(message, "PressureSome10", "d", (double) NAN);
        add(message, "PressureFull10", "d", (double) -INFINITY);
        close_fields(message);
        read = read_good(message, ALD_KIND_MEMORY, NULL);
        records_assert_same(absent, read);
}

/* A signature that is not that of the field. */
static void append_other_type(sd_bus_message *message, const AldField *field)
{
        if (field->type == ALD_TYPE_STRING)
                add(message, field->name, "u", 7u);
        else
                add(message, field->name, "(sv)", "x", "as", 1, "y");
}

static void test_other_types(void)
{
        g_autoptr(BusPair) pair = bus_pair_new();

        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++)
                for (size_t i = 0; i < ald_kinds[kind].type->n_fields; i++) {
                        const AldField *field = &ald_kinds[kind].type->fields[i];
                        g_autoptr(AldMessage) message = bus_pair_message_new(pair);

                        open_fields(message);
                        append_other_type(message, field);
                        add(message, "Behind", "s", "it");
                        close_fields(message);
                        assert_refused(message, kind, -ENXIO, field->name);
                }
}

static void test_first_bad_field_is_named(void)
{
        g_autoptr(BusPair) pair = bus_pair_new();
        g_autoptr(AldMessage) message = bus_pair_message_new(pair);

        open_fields(message);
        add(message, "TotalBytes", "t", UINT64_C(1));
        add(message, "AvailableBytes", "t", (uint64_t) ALD_INTEGER_MAX + 1);
        add(message, "SwapTotalBytes", "s", "x");
        close_fields(message);
        assert_refused(message, ALD_KIND_MEMORY, -ERANGE, "AvailableBytes");
}

static void test_ranges(void)
{
        g_autofree char *longest = g_strnfill(ALD_STRING_MAX, 'x');
        g_autofree char *longer = g_strnfill(ALD_STRING_MAX + 1, 'x');
        const struct {
                AldKind kind;
                const char *name, *signature;
                int64_t integer;
                const char *string;
                int error;
        } cases[] = {
                { ALD_KIND_MEMORY, "TotalBytes", "t", ALD_INTEGER_MAX, NULL, 0 },
                { ALD_KIND_MEMORY, "TotalBytes", "t", ALD_INTEGER_MAX + 1, NULL, -ERANGE },
                { ALD_KIND_MEMORY, "TotalBytes", "t", -2, NULL, -ERANGE },
                { ALD_KIND_SYSTEM, "TemperatureMilliCelsius", "x", -ALD_INTEGER_MAX, NULL, 0 },
                { ALD_KIND_SYSTEM, "TemperatureMilliCelsius", "x", -ALD_INTEGER_MAX - 1, NULL, -ERANGE },
                { ALD_KIND_SYSTEM, "TemperatureMilliCelsius", "x", INT64_MAX, NULL, -ERANGE },
                { ALD_KIND_IDENTITY, "FriendlyName", "s", 0, longest, 0 },
                { ALD_KIND_IDENTITY, "FriendlyName", "s", 0, longer, -ERANGE },
        };
        g_autoptr(BusPair) pair = bus_pair_new();

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldMessage) message = bus_pair_message_new(pair);

                open_fields(message);
                if (cases[i].string)
                        add(message, cases[i].name, cases[i].signature, cases[i].string);
                else
                        add(message, cases[i].name, cases[i].signature, cases[i].integer);
                close_fields(message);
                if (cases[i].error == 0)
                        ald_record_unref(read_good(message, cases[i].kind, NULL));
                else
                        assert_refused(message, cases[i].kind, cases[i].error, cases[i].name);
        }
}

static void append_rows(sd_bus_message *message, const char *name, unsigned n)
{
        g_assert_cmpint(sd_bus_message_open_container(message, 'e', "sv"), ==, 0);
        g_assert_cmpint(sd_bus_message_append(message, "s", name), >=, 0);
        g_assert_cmpint(sd_bus_message_open_container(message, 'v', "aa{sv}"), ==, 0);
        g_assert_cmpint(sd_bus_message_open_container(message, 'a', "a{sv}"), ==, 0);
        for (unsigned i = 0; i < n; i++)
                g_assert_cmpint(sd_bus_message_append(message, "a{sv}", 0), >=, 0);
        for (unsigned i = 0; i < 3; i++)
                g_assert_cmpint(sd_bus_message_close_container(message), ==, 0);
}

/* Rows without end, in one field, or again and again in the same. */
static void test_too_many_rows(void)
{
        const unsigned enough = ALD_RECORD_MAX / sizeof(AldInterface);
        g_autoptr(BusPair) pair = bus_pair_new();

        for (unsigned times = 1; times <= 4; times *= 2) {
                g_autoptr(AldMessage) message = bus_pair_message_new(pair);

                open_fields(message);
                for (unsigned i = 0; i < times; i++)
                        append_rows(message, "Interfaces", enough / times + 1);
                add(message, "Behind", "s", "it");
                close_fields(message);
                assert_refused(message, ALD_KIND_NETWORK, -E2BIG, "Interfaces");
        }
        g_autoptr(AldMessage) message = bus_pair_message_new(pair);
        open_fields(message);
        append_rows(message, "Interfaces", enough);
        close_fields(message);
        ald_record_unref(read_good(message, ALD_KIND_NETWORK, NULL));
}

/* A service may send more rows than their Maximum. */
static void test_rows_beyond_the_maximum(void)
{
        g_autoptr(BusPair) pair = bus_pair_new();
        g_autoptr(AldMessage) message = bus_pair_message_new(pair);
        g_autoptr(AldRecord) read = NULL;
        const AldMembership *membership;

        open_fields(message);
        g_assert_cmpint(sd_bus_message_open_container(message, 'e', "sv"), ==, 0);
        g_assert_cmpint(sd_bus_message_append(message, "s", "RefusedPublishers"), >=, 0);
        g_assert_cmpint(sd_bus_message_open_container(message, 'v', "aa{sv}"), ==, 0);
        g_assert_cmpint(sd_bus_message_open_container(message, 'a', "a{sv}"), ==, 0);
        for (unsigned i = 0; i < 100; i++) {
                g_autofree char *id = g_strdup_printf("%032x", i);

                g_assert_cmpint(sd_bus_message_append(message, "a{sv}", 1, "Id", "s", id), >=, 0);
        }
        for (unsigned i = 0; i < 3; i++)
                g_assert_cmpint(sd_bus_message_close_container(message), ==, 0);
        add(message, "ClusterName", "s", "lab");
        close_fields(message);
        read = read_good(message, ALD_KIND_MEMBERSHIP, NULL);
        membership = ald_record_as(read, MEMBERSHIP, AldMembership);
        g_assert_cmpuint(membership->refused_publishers.n, ==, 8);
        g_assert_cmpstr(membership->cluster_name, ==, "lab");
}

/* Each row is small, and so is each field; all of it is not. */
static void test_too_large(void)
{
        g_autofree char *text = g_strnfill(ALD_STRING_MAX, 'x');
        g_autoptr(BusPair) pair = bus_pair_new();
        g_autoptr(AldMessage) message = bus_pair_message_new(pair);
        const char *field = NULL;
        AldRecord *record = NULL;

        open_fields(message);
        g_assert_cmpint(sd_bus_message_open_container(message, 'e', "sv"), ==, 0);
        g_assert_cmpint(sd_bus_message_append(message, "s", "Interfaces"), >=, 0);
        g_assert_cmpint(sd_bus_message_open_container(message, 'v', "aa{sv}"), ==, 0);
        g_assert_cmpint(sd_bus_message_open_container(message, 'a', "a{sv}"), ==, 0);
        for (unsigned i = 0; i <= ALD_RECORD_MAX / ALD_STRING_MAX; i++) {
                g_autofree char *id = g_strdup_printf("eth%u", i);
                g_assert_cmpint(
                        sd_bus_message_append(message, "a{sv}", 2, "Id", "s", id, "Driver", "s", text), >=,
                        0);
        }
        for (unsigned i = 0; i < 3; i++)
                g_assert_cmpint(sd_bus_message_close_container(message), ==, 0);
        close_fields(message);
        g_assert_cmpint(ald_record_bus_read(message, ALD_KIND_NETWORK, NULL, &record, &field), ==, -E2BIG);
        g_assert_null(field);
        g_assert_null(record);
}

static void test_unknown_fields(void)
{
        g_autoptr(BusPair) pair = bus_pair_new();
        g_autoptr(AldMessage) message = bus_pair_message_new(pair);
        g_autoptr(AldRecord) read = NULL;

        open_fields(message);
        add(message, "Unknown", "a{s(xau)}", 1, "a", INT64_C(1), 2, 3u, 4u);
        add(message, "TotalBytes", "t", UINT64_C(5));
        add(message, "", "v", "v", "v", "s", "deep");
        add(message, "totalbytes", "t", UINT64_C(9));
        add(message, "UpdatedUSec", "t", UINT64_C(6));
        close_fields(message);
        read = read_good(message, ALD_KIND_MEMORY, NULL);
        g_assert_cmpuint(ald_record_as(read, MEMORY, AldMemory)->total_bytes, ==, 5);
        g_assert_cmpuint(read->updated_usec, ==, 6);
}

static int note_unknown(sd_bus_message *message, const char *name, bool in_row, void *userdata)
{
        g_string_append_printf(userdata, "%s%s ", in_row ? "." : "", name);
        return sd_bus_message_skip(message, "v");
}

static void note_row(const AldField *list, const void *row, void *userdata)
{
        g_string_append_printf(userdata, "%s[%s] ", list->name, ((const AldInterface *) row)->id);
}

/* A client receives what it shows raw, and refuses nothing because of it. */
static void test_unknown_fields_are_told(void)
{
        g_autoptr(BusPair) pair = bus_pair_new();
        g_autoptr(AldMessage) memory = bus_pair_message_new(pair), network = bus_pair_message_new(pair);
        g_autoptr(AldRecord) read = NULL, rows = NULL;
        g_autoptr(GString) told = g_string_new(NULL);
        const AldUnknownFields unknown = { .read = note_unknown, .end_row = note_row, .userdata = told };

        open_fields(memory);
        add(memory, "Unknown", "a{s(xau)}", 1, "a", INT64_C(1), 2, 3u, 4u);
        add(memory, "AvailableBytes", "s", "some");
        add(memory, "SwapTotalBytes", "t", UINT64_C(1) << 60);
        add(memory, "TotalBytes", "t", UINT64_C(5));
        close_fields(memory);
        g_assert_cmpint(ald_record_bus_read_all(memory, ALD_KIND_MEMORY, NULL, &unknown, &read, NULL), ==, 0);
        g_assert_cmpint(sd_bus_message_at_end(memory, true), >, 0);
        g_assert_cmpstr(told->str, ==, "Unknown AvailableBytes ");
        g_assert_cmpuint(ald_record_as(read, MEMORY, AldMemory)->total_bytes, ==, 5);
        g_assert_cmpuint(ald_record_as(read, MEMORY, AldMemory)->available_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(ald_record_as(read, MEMORY, AldMemory)->swap_total_bytes, ==, ALD_ABSENT_UINT64);
        g_string_truncate(told, 0);
        open_fields(network);
        add(network, "Interfaces", "aa{sv}", 2, 2, "Later", "s", "x", "Id", "s", "eth0", 1, "Id", "s",
                "eth1");
        close_fields(network);
        g_assert_cmpint(
                ald_record_bus_read_all(network, ALD_KIND_NETWORK, NULL, &unknown, &rows, NULL), ==, 0);
        g_assert_cmpstr(told->str, ==, ".Later Interfaces[eth0] Interfaces[eth1] ");
}

/* The last word counts where a field is said twice, in any order of all of them. */
static void test_order_and_repetition(void)
{
        g_autoptr(BusPair) pair = bus_pair_new();
        g_autoptr(AldMessage) message = bus_pair_message_new(pair);
        g_autoptr(AldRecord) read = NULL;
        const AldMemory *memory;

        open_fields(message);
        add(message, "SwapAvailableBytes", "t", UINT64_C(4));
        add(message, "TotalBytes", "t", UINT64_C(1));
        add(message, "AvailableBytes", "t", UINT64_C(2));
        add(message, "TotalBytes", "t", UINT64_C(7));
        add(message, "SwapTotalBytes", "t", UINT64_C(3));
        close_fields(message);
        read = read_good(message, ALD_KIND_MEMORY, NULL);
        memory = ald_record_as(read, MEMORY, AldMemory);
        g_assert_cmpuint(memory->total_bytes, ==, 7);
        g_assert_cmpuint(memory->available_bytes, ==, 2);
        g_assert_cmpuint(memory->swap_total_bytes, ==, 3);
        g_assert_cmpuint(memory->swap_available_bytes, ==, 4);
}

/* sd-bus's own errors are told as such, without a field. */
static void test_no_map_at_all(void)
{
        g_autoptr(BusPair) pair = bus_pair_new();
        g_autoptr(AldMessage) message = bus_pair_message_new(pair);
        const char *field = NULL;
        AldRecord *record = NULL;

        g_assert_cmpint(sd_bus_message_append(message, "s", "x"), >=, 0);
        bus_pair_seal(message);
        g_assert_cmpint(ald_record_bus_read(message, ALD_KIND_MEMORY, NULL, &record, &field), <, 0);
        g_assert_null(field);
        g_assert_null(record);
}

/* Two rows, of which the first has a field of another type, one out of range and one that is not known. */
static void append_port_rows(sd_bus_message *message)
{
        g_assert_cmpint(
                sd_bus_message_append(message, "aa{sv}", 2, 5, "Node", "s", "a", "Port", "t", UINT64_C(7),
                        "RateBitsPerSecond", "t", UINT64_MAX - 1, "Kind", "s", "rdma", "Colour", "s", "red",
                        2, "Node", "s", "b", "RateBitsPerSecond", "t", UINT64_C(5)),
                >=, 0);
        bus_pair_seal(message);
}

/* Rows are what another version says: what cannot be taken of one is absent, and the others count. */
static void test_rows(void)
{
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(BusPair) pair = bus_pair_new();
        g_autoptr(AldMessage) message = bus_pair_message_new(pair);
        const AldPortRow *row;
        AldRows rows;

        append_port_rows(message);
        g_assert_cmpint(
                ald_record_bus_read_rows(message, &ald_port_row_struct, ALD_RECORD_MAX, owned, &rows), >=, 0);
        g_assert_cmpuint(rows.n, ==, 2);
        row = ald_rows_at(&rows, 0);
        g_assert_cmpstr(row->node, ==, "a");
        g_assert_null(row->port);
        g_assert_cmpuint(row->rate_bits_per_second, ==, ALD_ABSENT_UINT64);
        g_assert_cmpstr(row->kind, ==, "rdma");
        row = ald_rows_at(&rows, 1);
        g_assert_cmpstr(row->node, ==, "b");
        g_assert_cmpuint(row->rate_bits_per_second, ==, 5);
        g_assert_cmpint(sd_bus_message_at_end(message, true), >, 0);
}

static void test_too_many_rows_of_a_list(void)
{
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(BusPair) pair = bus_pair_new();
        g_autoptr(AldMessage) message = bus_pair_message_new(pair);
        AldRows rows;

        append_port_rows(message);
        g_assert_cmpint(ald_record_bus_read_rows(
                                message, &ald_port_row_struct, 2 * sizeof(AldPortRow) - 1, owned, &rows),
                ==, -E2BIG);
}

/* Rows that are structs: what each has stands before the a{sv}, and an absent one is as in a property. */
static void test_struct_rows(void)
{
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(BusPair) pair = bus_pair_new();
        g_autoptr(AldMessage) message = bus_pair_message_new(pair);
        AldEdgeRow edge = ALD_EDGE_ROW_INIT, none = ALD_EDGE_ROW_INIT;
        const AldEdgeRow *read;
        AldRows rows;

        edge.id = 5;
        edge.kind = "socket";
        edge.source = "a";
        edge.sink = "b";
        edge.bits_per_second = 7;
        g_assert_cmpint(ald_record_bus_open_rows(message, &ald_edge_row_struct), >=, 0);
        g_assert_cmpint(ald_record_bus_append_row(message, &ald_edge_row_struct, &edge), >=, 0);
        g_assert_cmpint(ald_record_bus_append_row(message, &ald_edge_row_struct, &none), >=, 0);
        g_assert_cmpint(sd_bus_message_close_container(message), >=, 0);
        bus_pair_seal(message);
        g_assert_cmpstr(sd_bus_message_get_signature(message, true), ==, "a(tssssssssa{sv})");
        g_assert_cmpint(
                ald_record_bus_read_rows(message, &ald_edge_row_struct, ALD_RECORD_MAX, owned, &rows), >=, 0);
        g_assert_cmpuint(rows.n, ==, 2);
        read = ald_rows_at(&rows, 0);
        g_assert_cmpuint(read->id, ==, 5);
        g_assert_cmpstr(read->sink, ==, "b");
        g_assert_cmpstr(read->source_port, ==, "");
        g_assert_cmpuint(read->bits_per_second, ==, 7);
        g_assert_cmpuint(read->rtt_p50_nsec, ==, ALD_ABSENT_UINT64);
        read = ald_rows_at(&rows, 1);
        g_assert_cmpuint(read->id, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(ald_struct_wire_size(&ald_edge_row_struct, &edge), >=, 80);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/record-bus/round-trip", test_round_trip);
        g_test_add_func("/record-bus/envelope", test_envelope);
        g_test_add_func("/record-bus/no-record-is-an-empty-map", test_no_record_is_an_empty_map);
        g_test_add_func("/record-bus/base", test_base);
        g_test_add_func("/record-bus/changes-take-no-room", test_changes_take_no_room);
        g_test_add_func("/record-bus/absent-values", test_absent_values);
        g_test_add_func("/record-bus/other-types", test_other_types);
        g_test_add_func("/record-bus/first-bad-field-is-named", test_first_bad_field_is_named);
        g_test_add_func("/record-bus/ranges", test_ranges);
        g_test_add_func("/record-bus/too-many-rows", test_too_many_rows);
        g_test_add_func("/record-bus/rows-beyond-the-maximum", test_rows_beyond_the_maximum);
        g_test_add_func("/record-bus/too-large", test_too_large);
        g_test_add_func("/record-bus/unknown-fields", test_unknown_fields);
        g_test_add_func("/record-bus/unknown-fields-are-told", test_unknown_fields_are_told);
        g_test_add_func("/record-bus/order-and-repetition", test_order_and_repetition);
        g_test_add_func("/record-bus/no-map-at-all", test_no_map_at_all);
        g_test_add_func("/record-bus/rows", test_rows);
        g_test_add_func("/record-bus/too-many-rows-of-a-list", test_too_many_rows_of_a_list);
        g_test_add_func("/record-bus/struct-rows", test_struct_rows);
        return g_test_run();
}
