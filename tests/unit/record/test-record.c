/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <gio/gio.h>

#include "record/record.h"
#include "tests/unit/record-maker.h"

static void test_copies_what_it_is_given(void)
{
        char name[] = "spark", address[] = "192.0.2.1/24";
        const char *addresses[] = { address, NULL };
        AldInterface row = ALD_INTERFACE_INIT;
        AldNetwork network = ALD_NETWORK_INIT;
        g_autoptr(AldRecord) record = NULL;
        const AldNetwork *copy;
        const AldInterface *copied;

        row.id = name;
        row.addresses = addresses;
        network.interfaces.items = &row;
        network.interfaces.n = 1;
        record = record_make(ALD_KIND_NETWORK, &network);
        memset(name, 'x', sizeof name - 1);
        memset(address, 'x', sizeof address - 1);
        row.mtu = 1;

        copy = ald_record_as(record, NETWORK, AldNetwork);
        copied = ald_rows_find(&copy->interfaces, "spark");
        g_assert_nonnull(copied);
        g_assert_cmpstr(copied->addresses[0], ==, "192.0.2.1/24");
        g_assert_null(copied->addresses[1]);
        g_assert_cmpuint(copied->mtu, ==, ALD_ABSENT_UINT64);
        g_assert_null(ald_record_as((AldRecord *) NULL, NETWORK, AldNetwork));
}

static void test_rows_are_sorted_and_told_apart(void)
{
        AldDiskPath rows[] = { ALD_DISK_PATH_INIT, ALD_DISK_PATH_INIT, ALD_DISK_PATH_INIT, ALD_DISK_PATH_INIT,
                ALD_DISK_PATH_INIT };
        AldDisk disk = ALD_DISK_INIT;
        g_autoptr(AldRecord) record = NULL;
        const AldRows *paths;

        rows[0].id = "/srv";
        rows[0].total_bytes = 1;
        rows[2].id = "/";
        rows[3].id = "/srv";
        rows[3].total_bytes = 2;
        rows[4].id = "";
        disk.paths.items = rows;
        disk.paths.n = G_N_ELEMENTS(rows);
        record = record_make(ALD_KIND_DISK, &disk);
        paths = &ald_record_as(record, DISK, AldDisk)->paths;

        g_assert_cmpuint(paths->n, ==, 2);
        g_assert_cmpstr(((const AldDiskPath *) ald_rows_at(paths, 0))->id, ==, "/");
        g_assert_cmpstr(((const AldDiskPath *) ald_rows_at(paths, 1))->id, ==, "/srv");
        g_assert_cmpuint(((const AldDiskPath *) ald_rows_find(paths, "/srv"))->total_bytes, ==, 1);
        g_assert_null(ald_rows_find(paths, "/home"));
        g_assert_null(ald_rows_find(paths, ""));
}

static void test_what_cannot_be_said_is_absent(void)
{
        g_autofree char *longest = g_strnfill(ALD_STRING_MAX, 'x');
        g_autofree char *too_long = g_strnfill(ALD_STRING_MAX + 1, 'x');
        const char *const reasons[] = { "", "good", "\xff", "\xef\xbf\xbe", "a\xef\xb7\x90",
                "\xf0\x9f\xbf\xbf", "\xef\xbf\xbd", too_long, longest, NULL },
                          *const bad[] = { "", NULL };
        AldIdentity identity = ALD_IDENTITY_INIT;
        AldSystem system = ALD_SYSTEM_INIT;
        AldMemory memory = ALD_MEMORY_INIT;
        g_autoptr(AldRecord) a = NULL;
        g_autoptr(AldRecord) b = NULL;
        g_autoptr(AldRecord) c = NULL;
        g_autoptr(AldRecord) d = NULL;

        identity.friendly_name = too_long;
        identity.model_id = longest;
        identity.vendor = "\xc3";
        identity.chip_id = "";
        a = record_make(ALD_KIND_IDENTITY, &identity);
        g_assert_null(ald_record_as(a, IDENTITY, AldIdentity)->friendly_name);
        g_assert_cmpstr(ald_record_as(a, IDENTITY, AldIdentity)->model_id, ==, longest);
        g_assert_null(ald_record_as(a, IDENTITY, AldIdentity)->vendor);
        g_assert_null(ald_record_as(a, IDENTITY, AldIdentity)->chip_id);

        system.absent_reasons = reasons;
        system.temperature_milli_celsius = -ALD_INTEGER_MAX;
        system.cpu_usage = INFINITY;
        b = record_make(ALD_KIND_SYSTEM, &system);
        g_assert_true(g_strv_equal(ald_record_as(b, SYSTEM, AldSystem)->absent_reasons,
                (const char *const[]){ "good", "\xef\xbf\xbd", longest, NULL }));
        g_assert_cmpint(ald_record_as(b, SYSTEM, AldSystem)->temperature_milli_celsius, ==, -ALD_INTEGER_MAX);
        g_assert_true(isnan(ald_record_as(b, SYSTEM, AldSystem)->cpu_usage));
        system.absent_reasons = bad;
        system.temperature_milli_celsius = -ALD_INTEGER_MAX - 1;
        c = record_make(ALD_KIND_SYSTEM, &system);
        g_assert_null(ald_record_as(c, SYSTEM, AldSystem)->absent_reasons);
        g_assert_cmpint(ald_record_as(c, SYSTEM, AldSystem)->temperature_milli_celsius, ==, ALD_ABSENT_INT64);

        memory.total_bytes = (uint64_t) ALD_INTEGER_MAX;
        memory.available_bytes = (uint64_t) ALD_INTEGER_MAX + 1;
        d = record_make(ALD_KIND_MEMORY, &memory);
        g_assert_cmpuint(ald_record_as(d, MEMORY, AldMemory)->total_bytes, ==, (uint64_t) ALD_INTEGER_MAX);
        g_assert_cmpuint(ald_record_as(d, MEMORY, AldMemory)->available_bytes, ==, ALD_ABSENT_UINT64);
}

static void test_booleans(void)
{
        AldInterface rows[] = { ALD_INTERFACE_INIT, ALD_INTERFACE_INIT, ALD_INTERFACE_INIT };
        AldNetwork network = ALD_NETWORK_INIT;
        g_autoptr(AldRecord) record = NULL;
        const AldRows *copies;

        rows[0].id = "a";
        rows[1].id = "b";
        rows[1].carrier = 0;
        rows[2].id = "c";
        rows[2].carrier = 17;
        network.interfaces.items = rows;
        network.interfaces.n = G_N_ELEMENTS(rows);
        record = record_make(ALD_KIND_NETWORK, &network);
        copies = &ald_record_as(record, NETWORK, AldNetwork)->interfaces;
        g_assert_cmpint(((const AldInterface *) ald_rows_at(copies, 0))->carrier, ==, ALD_ABSENT_BOOLEAN);
        g_assert_cmpint(((const AldInterface *) ald_rows_at(copies, 1))->carrier, ==, 0);
        g_assert_cmpint(((const AldInterface *) ald_rows_at(copies, 2))->carrier, ==, 1);
}

static void test_too_large(void)
{
        g_autofree char *reason = g_strnfill(ALD_STRING_MAX, 'x');
        const char *reasons[ALD_RECORD_MAX / ALD_STRING_MAX + 2];
        AldSystem system = ALD_SYSTEM_INIT;
        g_autoptr(AldRecord) fits = NULL;
        AldRecord *record = NULL;

        for (unsigned i = 0; i < G_N_ELEMENTS(reasons); i++)
                reasons[i] = reason;
        system.absent_reasons = reasons;
        reasons[G_N_ELEMENTS(reasons) - 1] = NULL;
        g_assert_cmpint(ald_record_new(ALD_KIND_SYSTEM, &system, &record), ==, -E2BIG);
        g_assert_null(record);
        reasons[G_N_ELEMENTS(reasons) / 2] = NULL;
        fits = record_make(ALD_KIND_SYSTEM, &system);
        g_assert_cmpuint(fits->size, <=, ALD_RECORD_MAX);
}

/* A record made of the fields of a record is the same; all that was left out is left out already. */
static void test_making_twice_changes_nothing(void)
{
        for (unsigned round = 0; round < 2000; round++) {
                AldKind kind = (AldKind) g_test_rand_int_range(0, ALD_N_KINDS);
                g_autoptr(AldRecord) record = record_random(kind);
                g_autoptr(AldRecord) again = record_make(kind, ald_record_fields(record));

                records_assert_same(record, again);
                g_assert_cmpuint(record->wire_size, ==, again->wire_size);
                g_assert_cmpuint(record->n_ref, ==, 1);
        }
}

/* Equal by comparison, by difference and by hash are one and the same. */
static void test_equality(void)
{
        unsigned equal = 0;

        for (unsigned round = 0; round < 20000; round++) {
                AldKind kind = round % 2 ? ALD_KIND_MEMORY : ALD_KIND_DISK;
                g_autoptr(AldRecord) a = record_random(kind);
                g_autoptr(AldRecord) b = record_random(kind);
                bool same = ald_record_compare(a, b) == 0;

                g_assert_true((ald_record_diff(a, b) == 0) == same);
                g_assert_true((a->hash == b->hash) == same);
                if (same)
                        records_assert_same(a, b);
                equal += same;
        }
        g_assert_cmpuint(equal, >, 50);
}

static AldRecord *memory_with(uint64_t total, uint64_t available, double pressure)
{
        AldMemory memory = ALD_MEMORY_INIT;

        memory.total_bytes = total;
        memory.available_bytes = available;
        memory.pressure_some10 = pressure;
        return record_make(ALD_KIND_MEMORY, &memory);
}

static void test_hash_knows_which_field(void)
{
        for (uint64_t value = 0; value < 16; value++) {
                g_autoptr(AldRecord) total = memory_with(value, ALD_ABSENT_UINT64, NAN);
                g_autoptr(AldRecord) available = memory_with(ALD_ABSENT_UINT64, value, NAN);

                g_assert_cmpuint(total->hash, !=, available->hash);
        }
}

static void test_zero_has_no_sign(void)
{
        g_autoptr(AldRecord) minus = memory_with(1, 1, -0.0);
        g_autoptr(AldRecord) plus = memory_with(1, 1, 0.0);

        records_assert_same(minus, plus);
}

static void test_diff_and_threshold(void)
{
        g_autoptr(AldRecord) a = memory_with(1000000, 500000, 1);
        g_autoptr(AldRecord) near = memory_with(1000000, 500001, 1.4);
        g_autoptr(AldRecord) far = memory_with(1000000, 600000, 1);
        const AldStruct *type = ald_kinds[ALD_KIND_MEMORY].type;
        uint64_t available = UINT64_C(1) << (ald_struct_find(type, "AvailableBytes") - type->fields);
        uint64_t pressure = UINT64_C(1) << (ald_struct_find(type, "PressureSome10") - type->fields);

        g_assert_cmphex(ald_record_diff(a, near), ==, available | pressure);
        g_assert_cmphex(ald_record_diff(a, far), ==, available);
        g_assert_false(ald_record_beyond_threshold(a, near));
        g_assert_true(ald_record_beyond_threshold(a, far));
        g_assert_false(ald_record_beyond_threshold(a, a));
}

static void test_rows_beyond_threshold(void)
{
        AldDiskPath row = ALD_DISK_PATH_INIT;
        AldDisk disk = ALD_DISK_INIT;
        g_autoptr(AldRecord) none = record_make(ALD_KIND_DISK, &disk);
        g_autoptr(AldRecord) before = NULL;
        g_autoptr(AldRecord) near = NULL;
        g_autoptr(AldRecord) other = NULL;

        disk.paths.items = &row;
        disk.paths.n = 1;
        row.id = "/";
        row.available_bytes = 1000000;
        before = record_make(ALD_KIND_DISK, &disk);
        row.available_bytes = 1000001;
        near = record_make(ALD_KIND_DISK, &disk);
        row.id = "/srv";
        other = record_make(ALD_KIND_DISK, &disk);
        g_assert_true(ald_record_beyond_threshold(none, before));
        g_assert_false(ald_record_beyond_threshold(before, near));
        g_assert_true(ald_record_beyond_threshold(near, other));
}

static const GVariantType *type_of(const AldField *field)
{
        static const char *const types[] = { "s", "t", "x", "d", "b", "as", "aa{sv}" };

        return G_VARIANT_TYPE(types[field->type]);
}

static GVariant *fields_to_variant(const AldStruct *type, const void *base, bool absent_too);

static GVariant *value_to_variant(const AldField *field, const void *value)
{
        static const char *const empty[] = { NULL };
        g_auto(GVariantBuilder) builder = G_VARIANT_BUILDER_INIT(type_of(field));
        const AldRows *rows;

        switch (field->type) {
        case ALD_TYPE_STRING:
                return g_variant_new_string(*(const char *const *) value ?: "");
        case ALD_TYPE_UINT64:
                return g_variant_new_uint64(*(const uint64_t *) value);
        case ALD_TYPE_INT64:
                return g_variant_new_int64(*(const int64_t *) value);
        case ALD_TYPE_DOUBLE:
                return g_variant_new_double(*(const double *) value);
        case ALD_TYPE_BOOLEAN:
                return g_variant_new_boolean(*(const int *) value);
        case ALD_TYPE_STRV:
                return g_variant_new_strv(*(const char *const *const *) value ?: empty, -1);
        case ALD_TYPE_ROWS:
                rows = value;
                for (size_t i = 0; i < rows->n; i++)
                        g_variant_builder_add_value(
                                &builder, fields_to_variant(rows->type, ald_rows_at(rows, i), false));
                return g_variant_builder_end(&builder);
        }
        g_assert_not_reached();
}

static GVariant *fields_to_variant(const AldStruct *type, const void *base, bool absent_too)
{
        g_auto(GVariantBuilder) builder = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE_VARDICT);

        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];
                const void *value = ald_field_of(field, base);

                if (absent_too || !ald_field_is_absent(field, value))
                        g_variant_builder_add(&builder, "{sv}", field->name, value_to_variant(field, value));
        }
        return g_variant_builder_end(&builder);
}

static size_t size_on_the_bus(GVariant *dictionary)
{
        g_autoptr(GDBusMessage) message = g_dbus_message_new_method_call(NULL, "/", NULL, "M");
        g_autoptr(GDBusMessage) empty = g_dbus_message_new_method_call(NULL, "/", NULL, "M");
        g_autoptr(GError) error = NULL;
        g_autofree guchar *blob = NULL, *empty_blob = NULL;
        gsize size, empty_size;

        g_dbus_message_set_body(message, g_variant_new_tuple(&dictionary, 1));
        g_dbus_message_set_body(empty, g_variant_new("(a{sv})", NULL));
        blob = g_dbus_message_to_blob(message, &size, G_DBUS_CAPABILITY_FLAGS_NONE, &error);
        g_assert_no_error(error);
        empty_blob = g_dbus_message_to_blob(empty, &empty_size, G_DBUS_CAPABILITY_FLAGS_NONE, &error);
        g_assert_no_error(error);
        return size - empty_size;
}

/* The reply to GetManagedObjects() is kept within its limit by this figure, so it must never be too small. */
static void test_wire_size_is_an_upper_bound(void)
{
        for (unsigned round = 0; round < 500; round++) {
                AldKind kind = (AldKind) g_test_rand_int_range(0, ALD_N_KINDS);
                g_autoptr(AldRecord) record = record_random(kind);
                size_t size = size_on_the_bus(
                        fields_to_variant(ald_record_type(record), ald_record_fields(record), false));

                g_assert_cmpuint(record->wire_size, >=, size);
                g_assert_cmpuint(record->wire_size, <=, size + size / 2 + 16);
                size = size_on_the_bus(
                        fields_to_variant(ald_record_type(record), ald_record_fields(record), true));
                g_assert_cmpuint(ald_record_changed_size(record), >=, size);
                g_assert_cmpuint(ald_record_changed_size(record), <=, size + size / 2 + 16);
        }
}

static void test_kinds(void)
{
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++) {
                g_assert_cmpint(ald_kind_from_name(ald_kinds[kind].name), ==, (int) kind);
                g_assert_cmpint(ald_kind_from_interface(ald_kinds[kind].interface), ==, (int) kind);
                g_assert_true(ald_kinds[kind].is_link == g_str_has_prefix(ald_kinds[kind].name, "Link1."));
        }
        g_assert_cmpint(ald_kind_from_name("Node1.Nothing"), ==, -ENOENT);
        g_assert_cmpint(ald_kind_from_name(""), ==, -ENOENT);
        g_assert_cmpint(ald_kind_from_interface("Node1.Memory"), ==, -ENOENT);
        g_assert_cmpint(ald_kind_from_interface("org.example.Node1.Memory"), ==, -ENOENT);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/record/copies-what-it-is-given", test_copies_what_it_is_given);
        g_test_add_func("/record/rows-are-sorted-and-told-apart", test_rows_are_sorted_and_told_apart);
        g_test_add_func("/record/what-cannot-be-said-is-absent", test_what_cannot_be_said_is_absent);
        g_test_add_func("/record/booleans", test_booleans);
        g_test_add_func("/record/too-large", test_too_large);
        g_test_add_func("/record/making-twice-changes-nothing", test_making_twice_changes_nothing);
        g_test_add_func("/record/equality", test_equality);
        g_test_add_func("/record/hash-knows-which-field", test_hash_knows_which_field);
        g_test_add_func("/record/zero-has-no-sign", test_zero_has_no_sign);
        g_test_add_func("/record/diff-and-threshold", test_diff_and_threshold);
        g_test_add_func("/record/rows-beyond-threshold", test_rows_beyond_threshold);
        g_test_add_func("/record/wire-size-is-an-upper-bound", test_wire_size_is_an_upper_bound);
        g_test_add_func("/record/kinds", test_kinds);
        return g_test_run();
}
