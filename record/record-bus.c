/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "record/record-bus.h"

/* The fields of the envelope, by their offset in the record itself. */
static const AldField envelope_fields[] = {
        { .name = "Revision", .type = ALD_TYPE_UINT64, .offset = offsetof(AldRecord, revision) },
        { .name = "UpdatedUSec", .type = ALD_TYPE_UINT64, .offset = offsetof(AldRecord, updated_usec) },
};

static int append_row_list(sd_bus_message *message, const AldRows *rows);

/* Appends a string. Most are ASCII, and finding that out is faster than sd-bus checking the string. The check
 * is needed otherwise, since a bus ends the connection of a sender of invalid text. */
static int append_text(sd_bus_message *message, const char *text)
{
        size_t n = 0;
        char *space;
        int r;

        while ((signed char) text[n] > 0)
                n++;
        if (text[n] != '\0')
                return sd_bus_message_append_basic(message, 's', text);
        r = sd_bus_message_append_string_space(message, n, &space);
        if (r >= 0)
                memcpy(space, text, n);
        return r;
}

int ald_record_bus_append_value(sd_bus_message *message, const AldField *field, const void *value)
{
        switch (field->type) {
        case ALD_TYPE_STRING:
                return append_text(message, *(const char *const *) value ?: "");
        case ALD_TYPE_UINT64:
        case ALD_TYPE_INT64:
        case ALD_TYPE_DOUBLE:
        case ALD_TYPE_BOOLEAN:
                return sd_bus_message_append_basic(message, *ald_field_signature(field), value);
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
        r = append_text(message, field->name);
        if (r < 0)
                return r;
        r = sd_bus_message_open_container(message, 'v', ald_field_signature(field));
        if (r < 0)
                return r;
        r = ald_record_bus_append_value(message, field, value);
        if (r < 0)
                return r;
        r = sd_bus_message_close_container(message);
        if (r < 0)
                return r;
        return sd_bus_message_close_container(message);
}

int ald_record_bus_append_field(sd_bus_message *message, const AldField *field, const void *base)
{
        return append_entry(message, field, ald_field_of(field, base));
}

int ald_record_bus_append_fields(sd_bus_message *message, const AldStruct *type, const void *base)
{
        for (size_t i = type->n_fixed; i < type->n_fields; i++) {
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
                r = ald_record_bus_append_fields(message, type, fields);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

/* The type of a row in a message's signature: "a{sv}", or "(ssa{sv})". */
typedef struct RowSignature {
        char text[64];
} RowSignature;

static const char *row_signature(const AldStruct *type, RowSignature *space)
{
        int n;

        if (type->n_fixed == 0)
                return "a{sv}";
        n = snprintf(space->text, sizeof space->text, "(%s)", type->contents);
        g_assert(n > 0 && (size_t) n < sizeof space->text);
        return space->text;
}

int ald_record_bus_open_rows(sd_bus_message *message, const AldStruct *type)
{
        RowSignature space;

        return sd_bus_message_open_container(message, 'a', row_signature(type, &space));
}

int ald_record_bus_append_row(sd_bus_message *message, const AldStruct *type, const void *base)
{
        int r;

        if (type->n_fixed == 0)
                return ald_record_bus_append_struct(message, type, base);
        r = sd_bus_message_open_container(message, 'r', type->contents);
        for (size_t i = 0; r >= 0 && i < type->n_fixed; i++)
                r = ald_record_bus_append_value(
                        message, &type->fields[i], ald_field_of(&type->fields[i], base));
        if (r >= 0)
                r = ald_record_bus_append_struct(message, type, base);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_row_list(sd_bus_message *message, const AldRows *rows)
{
        int r;

        r = ald_record_bus_open_rows(message, rows->type);
        for (size_t i = 0; r >= 0 && i < rows->n; i++)
                r = ald_record_bus_append_row(message, rows->type, ald_rows_at(rows, i));
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
                r = ald_record_bus_append_fields(message, ald_record_type(record), ald_record_fields(record));
        if (r < 0)
                return r;
        if (updated_usec != 0)
                r = append_entry(message, &updated, &updated_usec);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_envelope(sd_bus_message *message, const AldRecord *record)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < G_N_ELEMENTS(envelope_fields); i++)
                r = append_entry(message, &envelope_fields[i], ald_field_of(&envelope_fields[i], record));
        return r;
}

int ald_record_bus_append_interface(sd_bus_message *message, const AldRecord *record)
{
        int r;

        r = sd_bus_message_open_container(message, 'e', "sa{sv}");
        if (r >= 0)
                r = append_text(message, ald_kinds[record->kind].interface);
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "{sv}");
        if (r >= 0)
                r = ald_record_bus_append_fields(message, ald_record_type(record), ald_record_fields(record));
        if (r >= 0)
                r = append_envelope(message, record);
        if (r >= 0)
                r = sd_bus_message_close_container(message);
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
        if (r >= 0)
                r = append_envelope(message, record);
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        return r < 0 ? r : sd_bus_message_append(message, "as", 0);
}

/* Initial capacities; the arrays grow as elements come. */
#define ROWS_USUAL 8u
#define STRINGS_USUAL 16u

/* Large enough for most records with their lists and rows, in bytes. */
#define SPACE_USUAL 8192u

/* The state of reading one record. Strings are borrowed from the message; rows and lists are owned here. A
 * field that cannot be used is noted and skipped, so that the whole record is always consumed from the
 * message. */
typedef struct Reader {
        GPtrArray *owned; /* memory beyond the scratch space; NULL: none */
        char *space; /* scratch space: rows are taken from its start, all else from its end; may be NULL */
        size_t space_left;
        size_t room;                     /* bytes of a record that holds everything read so far */
        size_t held, most;               /* bytes of rows and lists, and their limit */
        const AldUnknownFields *unknown; /* NULL: unknown fields are skipped */
        int bad;
        const char *bad_field;
} Reader;

static void note_bad(Reader *reader, const AldField *field, int error)
{
        if (reader->bad == 0) {
                reader->bad = error;
                reader->bad_field = field->name;
        }
}

/* Charges memory to the record. A row is larger in memory than in a message, so reading stops once the result
 * cannot fit into a record. */
static bool has_room(Reader *reader, const AldField *field, size_t n)
{
        reader->held += n;
        if (reader->held <= reader->most)
                return true;
        note_bad(reader, field, -E2BIG);
        return false;
}

static int read_struct(
        sd_bus_message *message, const AldStruct *type, void *to, Reader *reader, AldRecord *envelope);

static void add_owned(Reader *reader, void *at)
{
        if (!reader->owned)
                reader->owned = g_ptr_array_new_with_free_func(g_free);
        g_ptr_array_add(reader->owned, at);
}

static void *allocate(Reader *reader, size_t n)
{
        void *at;

        n = ALD_RECORD_ALIGN(n);
        if (n <= reader->space_left) {
                reader->space_left -= n;
                return reader->space + reader->space_left;
        }
        at = g_malloc(n);
        add_owned(reader, at);
        return at;
}

/* A list of strings being read, whose length is not known before its end. */
typedef struct StringList {
        const char *few[STRINGS_USUAL];
        size_t n;
        GPtrArray *all; /* used once there are more; NULL before */
} StringList;

static void add_string(StringList *list, const char *string)
{
        if (list->n < STRINGS_USUAL) {
                list->few[list->n++] = string;
                return;
        }
        if (!list->all) {
                list->all = g_ptr_array_sized_new(4 * STRINGS_USUAL);
                for (size_t i = 0; i < list->n; i++)
                        g_ptr_array_add(list->all, (gpointer) list->few[i]);
        }
        g_ptr_array_add(list->all, (gpointer) string);
        list->n++;
}

static const char *const *take_strings(Reader *reader, StringList *list)
{
        size_t size = (list->n + 1) * sizeof(char *);
        const char **strv = allocate(reader, size);

        reader->room += size;
        memcpy(strv, list->all ? (const char **) list->all->pdata : list->few, list->n * sizeof(char *));
        strv[list->n] = NULL;
        g_clear_pointer(&list->all, g_ptr_array_unref);
        return strv;
}

static int read_strv(sd_bus_message *message, const AldField *field, const char *const **ret, Reader *reader)
{
        StringList list = {};
        const char *string;
        int r;

        r = sd_bus_message_enter_container(message, 'a', "s");
        while (r >= 0 && (r = sd_bus_message_read_basic(message, 's', &string)) > 0)
                if (has_room(reader, field, sizeof string)) {
                        reader->room += ALD_RECORD_ALIGN(strlen(string) + 1);
                        add_string(&list, string);
                }
        if (r >= 0)
                r = sd_bus_message_exit_container(message);
        *ret = take_strings(reader, &list);
        return r;
}

/* The rows being read. They lie in scratch space, or in `grown` once that is full or something else lies
 * behind them. */
typedef struct RowList {
        char *items;
        unsigned n;
        GArray *grown;
} RowList;

static void *add_row(Reader *reader, const AldStruct *type, RowList *rows)
{
        char *end = rows->n > 0 ? rows->items + rows->n * type->size : rows->items;

        if (!rows->grown && end == reader->space && type->size <= reader->space_left) {
                reader->space += type->size;
                reader->space_left -= type->size;
                memcpy(end, type->absent, type->size);
        } else {
                if (!rows->grown) {
                        rows->grown = g_array_sized_new(
                                false, false, (guint) type->size, MAX(2 * rows->n, ROWS_USUAL));
                        g_array_append_vals(rows->grown, rows->items, rows->n);
                }
                g_array_append_vals(rows->grown, type->absent, 1);
                rows->items = rows->grown->data;
        }
        return rows->items + rows->n++ * type->size;
}

static int read_value(sd_bus_message *message, const AldField *field, void *to, Reader *reader);

/* Reads one row. A fixed field cannot be missing, but it may be absent or out of range like any other. */
static int read_row(sd_bus_message *message, const AldStruct *type, void *row, Reader *reader)
{
        int r;

        if (type->n_fixed == 0)
                return read_struct(message, type, row, reader, NULL);
        r = sd_bus_message_enter_container(message, 'r', type->contents);
        for (size_t i = 0; r >= 0 && i < type->n_fixed; i++)
                r = read_value(message, &type->fields[i], (char *) row + type->fields[i].offset, reader);
        if (r >= 0)
                r = read_struct(message, type, row, reader, NULL);
        return r < 0 ? r : sd_bus_message_exit_container(message);
}

/* Reads a list of rows. Rows beyond the Maximum of the field are dropped, since a peer may send any number.
 */
static int read_rows(sd_bus_message *message, const AldField *field, AldRows *ret, Reader *reader)
{
        const AldStruct *type = ret->type;
        RowList rows = { .items = reader->space };
        RowSignature space;
        const char *signature = row_signature(type, &space);
        int r;

        r = sd_bus_message_enter_container(message, 'a', signature);
        while (r >= 0 && sd_bus_message_at_end(message, false) == 0) {
                void *row;

                if ((field->limited_above && (double) rows.n >= field->maximum) ||
                        !has_room(reader, field, type->size)) {
                        r = sd_bus_message_skip(message, signature);
                        continue;
                }
                row = add_row(reader, type, &rows);
                r = read_row(message, type, row, reader);
                if (r >= 0 && reader->unknown)
                        reader->unknown->end_row(field, row, reader->unknown->userdata);
        }
        if (r >= 0)
                r = sd_bus_message_exit_container(message);
        reader->room += ALD_RECORD_ALIGN(rows.n * type->size);
        if (rows.grown)
                add_owned(reader, g_array_free(rows.grown, FALSE));
        ret->n = rows.n;
        ret->items = rows.items;
        return r;
}

/* Returns whether a value is in the range of its type. Also adds a string to the room that the record needs.
 */
static bool check_range(Reader *reader, AldType type, const void *value)
{
        size_t n;

        switch (type) {
        case ALD_TYPE_STRING:
                n = strlen(*(const char *const *) value);
                reader->room += ALD_RECORD_ALIGN(n + 1);
                return n <= ALD_STRING_MAX;
        case ALD_TYPE_UINT64:
                return *(const uint64_t *) value <= (uint64_t) ALD_INTEGER_MAX ||
                       *(const uint64_t *) value == ALD_ABSENT_UINT64;
        case ALD_TYPE_INT64:
                return (*(const int64_t *) value <= ALD_INTEGER_MAX &&
                               *(const int64_t *) value >= -ALD_INTEGER_MAX) ||
                       *(const int64_t *) value == ALD_ABSENT_INT64;
        default:
                return true;
        }
}

static int read_value(sd_bus_message *message, const AldField *field, void *to, Reader *reader)
{
        int r;

        if (field->type == ALD_TYPE_ROWS)
                return read_rows(message, field, to, reader);
        if (field->type == ALD_TYPE_STRV)
                return read_strv(message, field, to, reader);
        r = sd_bus_message_read_basic(message, *ald_field_signature(field), to);
        if (r >= 0 && !check_range(reader, field->type, to)) {
                if (!reader->unknown)
                        note_bad(reader, field, -ERANGE);
                ald_field_clear(field, to);
        }
        return r;
}

static int read_unknown(sd_bus_message *message, const char *name, bool in_row, Reader *reader)
{
        return reader->unknown ? reader->unknown->read(message, name, in_row, reader->unknown->userdata)
                               : sd_bus_message_skip(message, "v");
}

static int read_variant(sd_bus_message *message, const AldField *field, void *to, bool in_row, Reader *reader)
{
        int r;

        r = sd_bus_message_enter_container(message, 'v', ald_field_signature(field));
        if (r == -ENXIO) { /* a different type than expected */
                if (!reader->unknown)
                        note_bad(reader, field, -ENXIO);
                ald_field_clear(field, to);
                return read_unknown(message, field->name, in_row, reader);
        }
        if (r >= 0)
                r = read_value(message, field, to, reader);
        if (r >= 0 && !in_row && reader->unknown && reader->unknown->known)
                reader->unknown->known(field, reader->unknown->userdata);
        return r < 0 ? r : sd_bus_message_exit_container(message);
}

static int read_entry(sd_bus_message *message, const AldStruct *type, void *to, size_t *next, Reader *reader,
        AldRecord *envelope)
{
        const AldField *field;
        const char *name;
        int r;

        r = sd_bus_message_read_basic(message, 's', &name);
        if (r < 0)
                return r;
        field = ald_struct_find_next(type, name, next);
        if (field)
                return read_variant(message, field, (char *) to + field->offset, !envelope, reader);
        for (size_t i = 0; envelope && i < G_N_ELEMENTS(envelope_fields); i++)
                if (strcmp(envelope_fields[i].name, name) == 0)
                        return read_variant(message, &envelope_fields[i],
                                (char *) envelope + envelope_fields[i].offset, false, reader);
        return read_unknown(message, name, !envelope, reader);
}

static int read_struct(
        sd_bus_message *message, const AldStruct *type, void *to, Reader *reader, AldRecord *envelope)
{
        size_t next = 0;
        int r;

        r = sd_bus_message_enter_container(message, 'a', "{sv}");
        if (r < 0)
                return r;
        while ((r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
                r = read_entry(message, type, to, &next, reader, envelope);
                if (r >= 0)
                        r = sd_bus_message_exit_container(message);
                if (r < 0)
                        return r;
        }
        return r < 0 ? r : sd_bus_message_exit_container(message);
}

int ald_record_bus_read_row(
        sd_bus_message *message, const AldStruct *type, size_t max_bytes, GPtrArray *owned, void *ret)
{
        Reader reader = { .owned = owned, .most = max_bytes };
        int r;

        memcpy(ret, type->absent, type->size);
        r = read_row(message, type, ret, &reader);
        return r >= 0 && reader.held > max_bytes ? -E2BIG : r;
}

int ald_record_bus_read_rows(
        sd_bus_message *message, const AldStruct *type, size_t max_bytes, GPtrArray *owned, AldRows *ret)
{
        const AldField field = { .name = type->name, .type = ALD_TYPE_ROWS };
        Reader reader = { .owned = owned, .most = max_bytes };
        AldRows rows = { .type = type };
        int r;

        r = read_rows(message, &field, &rows, &reader);
        if (r >= 0 && reader.held > max_bytes)
                r = -E2BIG;
        if (r >= 0)
                *ret = rows;
        return r;
}

/* Does the work of ald_record_bus_read_all(), with a reader that owns the temporary memory. */
static int read_record(sd_bus_message *message, AldKind kind, const AldRecord *base, Reader *reader,
        AldRecord **ret, const char **ret_field)
{
        const AldStruct *type = ald_kinds[kind].type;
        AldRecord envelope = { .revision = base ? base->revision : 0,
                .updated_usec = base ? base->updated_usec : 0 };
        void *fields = allocate(reader, type->size);
        int r;

        memcpy(fields, base ? ald_record_fields(base) : type->absent, type->size);
        reader->room = sizeof(AldRecord) + ALD_RECORD_ALIGN(type->size);
        r = read_struct(message, type, fields, reader, &envelope);
        if (r < 0)
                return r; /* hides any earlier bad field, since the rest of the message cannot be read */
        r = reader->bad;
        if (r >= 0)
                r = ald_record_new_sized(kind, fields, base ? 0 : reader->room, ret);
        if (r < 0) {
                if (ret_field)
                        *ret_field = reader->bad_field;
                return r;
        }
        (*ret)->revision = envelope.revision;
        (*ret)->updated_usec = envelope.updated_usec;
        return 0;
}

int ald_record_bus_read_all(sd_bus_message *message, AldKind kind, const AldRecord *base,
        const AldUnknownFields *unknown, AldRecord **ret, const char **ret_field)
{
        g_autoptr(GPtrArray) owned = NULL;
        _Alignas(max_align_t) char space[SPACE_USUAL];
        Reader reader = {
                .space = space, .space_left = sizeof space, .most = ALD_RECORD_MAX, .unknown = unknown
        };
        int r;

        r = read_record(message, kind, base, &reader, ret, ret_field);
        owned = reader.owned;
        return r;
}

int ald_record_bus_read(
        sd_bus_message *message, AldKind kind, const AldRecord *base, AldRecord **ret, const char **ret_field)
{
        return ald_record_bus_read_all(message, kind, base, NULL, ret, ret_field);
}
