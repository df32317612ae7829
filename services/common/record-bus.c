/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/common/bus-cleanup.h"
#include "services/common/record-bus-private.h"

const AldField ald_record_bus_envelope[ALD_RECORD_BUS_ENVELOPE] = {
        { .name = "Revision", .type = ALD_TYPE_UINT64, .offset = offsetof(AldRecord, revision) },
        { .name = "UpdatedUSec", .type = ALD_TYPE_UINT64, .offset = offsetof(AldRecord, updated_usec) },
};

static int append_row_list(sd_bus_message *message, const AldRows *rows);

const char *ald_record_bus_signature(const AldField *field)
{
        switch (field->type) {
        case ALD_TYPE_STRING:
                return "s";
        case ALD_TYPE_UINT64:
                return "t";
        case ALD_TYPE_INT64:
                return "x";
        case ALD_TYPE_DOUBLE:
                return "d";
        case ALD_TYPE_BOOLEAN:
                return "b";
        case ALD_TYPE_STRV:
                return "as";
        case ALD_TYPE_ROWS:
                return "aa{sv}";
        }
        g_assert_not_reached();
}

static int append_value(sd_bus_message *message, const AldField *field, const void *value)
{
        switch (field->type) {
        case ALD_TYPE_STRING:
                return sd_bus_message_append_basic(message, 's', *(const char *const *) value);
        case ALD_TYPE_UINT64:
        case ALD_TYPE_INT64:
        case ALD_TYPE_DOUBLE:
        case ALD_TYPE_BOOLEAN:
                return sd_bus_message_append_basic(message, *ald_record_bus_signature(field), value);
        case ALD_TYPE_STRV:
                return sd_bus_message_append_strv(message, *(char **const *) value);
        case ALD_TYPE_ROWS:
                return append_row_list(message, value);
        }
        g_assert_not_reached();
}

static int append_entry(sd_bus_message *message, const AldField *field, const void *value)
{
        int r;

        r = sd_bus_message_open_container(message, 'e', "sv");
        if (r < 0)
                return r;
        r = sd_bus_message_append_basic(message, 's', field->name);
        if (r < 0)
                return r;
        r = sd_bus_message_open_container(message, 'v', ald_record_bus_signature(field));
        if (r < 0)
                return r;
        r = append_value(message, field, value);
        if (r < 0)
                return r;
        r = sd_bus_message_close_container(message);
        if (r < 0)
                return r;
        return sd_bus_message_close_container(message);
}

static int append_entries(sd_bus_message *message, const AldStruct *type, const void *base)
{
        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];
                const void *value = ald_field_of(field, base);
                int r;

                if (ald_field_is_absent(field, value))
                        continue;
                r = append_entry(message, field, value);
                if (r < 0)
                        return r;
        }
        return 0;
}

int ald_record_bus_append_struct(sd_bus_message *message, const AldStruct *type, const void *fields)
{
        int r;

        r = sd_bus_message_open_container(message, 'a', "{sv}");
        if (r >= 0)
                r = append_entries(message, type, fields);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_row_list(sd_bus_message *message, const AldRows *rows)
{
        int r;

        r = sd_bus_message_open_container(message, 'a', "a{sv}");
        for (size_t i = 0; r >= 0 && i < rows->n; i++)
                r = ald_record_bus_append_struct(message, rows->type, ald_rows_at(rows, i));
        return r < 0 ? r : sd_bus_message_close_container(message);
}

int ald_record_bus_get_rows(sd_bus *bus, const char *path, const char *interface, const char *property,
        sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        return append_row_list(reply, userdata);
}

int ald_record_bus_append(sd_bus_message *message, const AldRecord *record, uint64_t updated_usec)
{
        static const AldField updated = { .name = "UpdatedUSec", .type = ALD_TYPE_UINT64 };
        int r;

        r = sd_bus_message_open_container(message, 'a', "{sv}");
        if (r < 0)
                return r;
        if (record)
                r = append_entries(message, ald_record_type(record), ald_record_fields(record));
        if (r < 0)
                return r;
        if (updated_usec != 0)
                r = append_entry(message, &updated, &updated_usec);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

int ald_record_bus_append_properties(sd_bus_message *message, const AldRecord *record)
{
        const AldStruct *type = ald_record_type(record);
        int r;

        r = sd_bus_message_open_container(message, 'a', "{sv}");
        for (size_t i = 0; r >= 0 && i < type->n_fields; i++)
                r = append_entry(message, &type->fields[i], ald_record_field(record, &type->fields[i]));
        for (size_t i = 0; r >= 0 && i < ALD_RECORD_BUS_ENVELOPE; i++)
                r = append_entry(message, &ald_record_bus_envelope[i],
                        ald_field_of(&ald_record_bus_envelope[i], record));
        return r < 0 ? r : sd_bus_message_close_container(message);
}

int ald_record_bus_append_interface(sd_bus_message *message, const AldRecord *record)
{
        int r;

        r = sd_bus_message_open_container(message, 'e', "sa{sv}");
        if (r >= 0)
                r = sd_bus_message_append_basic(message, 's', ald_kinds[record->kind].interface);
        if (r >= 0)
                r = ald_record_bus_append_properties(message, record);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

int ald_record_bus_append_changed(sd_bus_message *message, const AldRecord *record, uint64_t fields)
{
        const AldStruct *type = ald_record_type(record);
        int r;

        r = sd_bus_message_append_basic(message, 's', ald_kinds[record->kind].interface);
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "{sv}");
        for (size_t i = 0; r >= 0 && i < type->n_fields; i++)
                if (fields & (UINT64_C(1) << i))
                        r = append_entry(
                                message, &type->fields[i], ald_record_field(record, &type->fields[i]));
        for (size_t i = 0; r >= 0 && i < ALD_RECORD_BUS_ENVELOPE; i++)
                r = append_entry(message, &ald_record_bus_envelope[i],
                        ald_field_of(&ald_record_bus_envelope[i], record));
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        return r < 0 ? r : sd_bus_message_append(message, "as", 0);
}

static int new_signal(sd_bus *bus, const char *destination, const char *path, const char *interface,
        const char *member, sd_bus_message **ret)
{
        g_autoptr(AldMessage) signal = NULL;
        int r;

        r = sd_bus_message_new_signal(bus, &signal, path, interface, member);
        if (r >= 0 && destination)
                r = sd_bus_message_set_destination(signal, destination);
        if (r >= 0 && destination)
                r = sd_bus_message_set_auto_start(signal, false);
        if (r >= 0)
                *ret = g_steal_pointer(&signal);
        return r;
}

int ald_record_bus_emit_changed(
        sd_bus *bus, const char *destination, const char *path, const AldRecord *record, uint64_t fields)
{
        g_autoptr(AldMessage) signal = NULL;
        int r;

        r = new_signal(
                bus, destination, path, "org.freedesktop.DBus.Properties", "PropertiesChanged", &signal);
        if (r >= 0)
                r = ald_record_bus_append_changed(signal, record, fields);
        return r < 0 ? r : sd_bus_send(bus, signal, NULL);
}

int ald_record_bus_emit_added(sd_bus *bus, const char *destination, const char *manager, const char *path,
        const AldRecord *const *records)
{
        g_autoptr(AldMessage) signal = NULL;
        int r;

        r = new_signal(
                bus, destination, manager, "org.freedesktop.DBus.ObjectManager", "InterfacesAdded", &signal);
        if (r >= 0)
                r = sd_bus_message_append_basic(signal, 'o', path);
        if (r >= 0)
                r = sd_bus_message_open_container(signal, 'a', "{sa{sv}}");
        for (; r >= 0 && *records; records++)
                r = ald_record_bus_append_interface(signal, *records);
        if (r >= 0)
                r = sd_bus_message_close_container(signal);
        return r < 0 ? r : sd_bus_send(bus, signal, NULL);
}

int ald_record_bus_emit_removed(sd_bus *bus, const char *destination, const char *manager, const char *path,
        const char *const *interfaces)
{
        g_autoptr(AldMessage) signal = NULL;
        int r;

        r = new_signal(bus, destination, manager, "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
                &signal);
        if (r >= 0)
                r = sd_bus_message_append_basic(signal, 'o', path);
        if (r >= 0)
                r = sd_bus_message_append_strv(signal, (char **) interfaces);
        return r < 0 ? r : sd_bus_send(bus, signal, NULL);
}
