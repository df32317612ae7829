/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "record/json.h"
#include "record/message.h"

static json_t *fields_to_json(const AldStruct *type, const void *base);

/* Takes the value. The only way to fail is to be out of memory, and half a record must not be written. */
static void set(json_t *object, const char *name, json_t *value)
{
        if (json_object_set_new_nocheck(object, name, value) < 0)
                g_error("Out of memory");
}

static void append(json_t *array, json_t *value)
{
        if (json_array_append_new(array, value) < 0)
                g_error("Out of memory");
}

static json_t *strv_to_json(const char *const *strv)
{
        json_t *array = json_array();

        for (; *strv; strv++)
                append(array, json_string_nocheck(*strv));
        return array;
}

static json_t *rows_to_json(const AldRows *rows)
{
        json_t *array = json_array();

        for (size_t i = 0; i < rows->n; i++)
                append(array, fields_to_json(rows->type, ald_rows_at(rows, i)));
        return array;
}

static json_t *value_to_json(const AldField *field, const void *value)
{
        switch (field->type) {
        case ALD_TYPE_STRING:
                return json_string_nocheck(*(const char *const *) value);
        case ALD_TYPE_UINT64:
        case ALD_TYPE_INT64:
                return json_integer(*(const int64_t *) value);
        case ALD_TYPE_DOUBLE:
                return json_real(*(const double *) value);
        case ALD_TYPE_BOOLEAN:
                return json_boolean(*(const int *) value);
        case ALD_TYPE_STRV:
                return strv_to_json(*(const char *const *const *) value);
        case ALD_TYPE_ROWS:
                return rows_to_json(value);
        }
        g_assert_not_reached();
}

static json_t *fields_to_json(const AldStruct *type, const void *base)
{
        json_t *object = json_object();

        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];
                const void *value = ald_field_of(field, base);

                if (!ald_field_is_absent(field, value))
                        set(object, field->name, value_to_json(field, value));
        }
        return object;
}

json_t *ald_record_to_json(const AldRecord *record)
{
        return fields_to_json(ald_record_type(record), ald_record_fields(record));
}

/* What a record is being read into; strings are borrowed from the JSON, rows and lists are owned here. */
typedef struct Reader {
        GPtrArray *owned;
        size_t held; /* bytes of these */
        const char *bad_field;
        bool message, tolerant; /* whether fields are checked, and invalid ones left out */
} Reader;

static int read_fields(json_t *json, const AldStruct *type, void *to, Reader *reader);

/* Space for a list or rows. "{}" is far larger here than in JSON, so what would not fit into a record is not
 * even read. */
static void *take_space(Reader *reader, size_t n, size_t size)
{
        void *space;

        if (n > (ALD_RECORD_MAX - reader->held) / size)
                return NULL;
        reader->held += n * size;
        space = g_malloc0_n(n + 1, size);
        g_ptr_array_add(reader->owned, space);
        return space;
}

static int read_string(json_t *value, const char **ret)
{
        if (!json_is_string(value))
                return -EBADMSG;
        if (json_string_length(value) > ALD_STRING_MAX)
                return -ERANGE;
        *ret = json_string_value(value);
        return 0;
}

/* The double is compared first, since beyond 2^63 it is no integer at all. */
static int integer_from_real(double real, int64_t *ret)
{
        if (real != trunc(real))
                return -EBADMSG;
        if (fabs(real) > (double) ALD_INTEGER_MAX)
                return -ERANGE;
        *ret = (int64_t) real;
        return 0;
}

static int read_integer(json_t *value, int64_t least, int64_t *ret)
{
        int64_t integer = json_integer_value(value);

        if (json_is_real(value)) {
                int r = integer_from_real(json_real_value(value), &integer);
                if (r < 0)
                        return r;
        } else if (!json_is_integer(value)) {
                return -EBADMSG;
        }
        if (integer < least || integer > ALD_INTEGER_MAX)
                return -ERANGE;
        *ret = integer;
        return 0;
}

static int read_double(json_t *value, double *ret)
{
        if (!json_is_number(value))
                return -EBADMSG;
        *ret = json_number_value(value);
        return 0;
}

static int read_boolean(json_t *value, int *ret)
{
        if (!json_is_boolean(value))
                return -EBADMSG;
        *ret = json_is_true(value);
        return 0;
}

static int read_strv(json_t *value, const char *const **ret, Reader *reader)
{
        size_t n = json_array_size(value);
        const char **strv;

        if (!json_is_array(value))
                return -EBADMSG;
        strv = take_space(reader, n, sizeof(char *));
        if (!strv)
                return -E2BIG;
        for (size_t i = 0; i < n; i++) {
                int r = read_string(json_array_get(value, i), &strv[i]);
                if (r < 0)
                        return r;
        }
        *ret = strv;
        return 0;
}

static int read_rows(json_t *value, const AldField *field, AldRows *rows, Reader *reader)
{
        size_t n = json_array_size(value), size = rows->type->size;
        char *items;

        if (!json_is_array(value))
                return -EBADMSG;
        if (field->limited_above && (double) n > field->maximum) {
                if (!reader->tolerant)
                        return -ERANGE;
                n = (size_t) field->maximum;
        }
        items = take_space(reader, n, size);
        if (!items)
                return -E2BIG;
        for (size_t i = 0; i < n; i++) {
                char *item = items + i * size;
                int r = read_fields(json_array_get(value, i), rows->type, item, reader);

                if (r < 0 && reader->tolerant) /* a row without an Id is not taken */
                        memcpy(item, rows->type->absent, size);
                else if (r < 0)
                        return r;
        }
        rows->items = items;
        rows->n = n;
        return 0;
}

static int read_value(json_t *value, const AldField *field, void *to, Reader *reader)
{
        switch (field->type) {
        case ALD_TYPE_STRING:
                return read_string(value, to);
        case ALD_TYPE_UINT64:
                return read_integer(value, 0, to);
        case ALD_TYPE_INT64:
                return read_integer(value, -ALD_INTEGER_MAX, to);
        case ALD_TYPE_DOUBLE:
                return read_double(value, to);
        case ALD_TYPE_BOOLEAN:
                return read_boolean(value, to);
        case ALD_TYPE_STRV:
                return read_strv(value, to, reader);
        case ALD_TYPE_ROWS:
                return read_rows(value, field, to, reader);
        }
        g_assert_not_reached();
}

static int check_string(const AldField *field, const char *string)
{
        AldId id;

        if (strlen(string) > ALD_MESSAGE_STRING_MAX ||
                (field->from_string && field->from_string(string) < 0) ||
                (field->is_id && ald_id_parse(string, &id) < 0))
                return -ERANGE;
        for (; *string; string = g_utf8_next_char(string))
                if (!g_unichar_isprint(g_utf8_get_char(string)))
                        return -ERANGE;
        return 0;
}

static int check_strv(const AldField *field, const char *const *strv)
{
        size_t n = 0;
        int r = 0;

        for (; r >= 0 && strv[n]; n++)
                r = check_string(field, strv[n]);
        return r >= 0 && field->limited_above && (double) n > field->maximum ? -ERANGE : r;
}

static int check_number(const AldField *field, double number)
{
        return (field->limited_below && number < field->minimum) ||
                               (field->limited_above && number > field->maximum)
                       ? -ERANGE
                       : 0;
}

/* What the schema demands of a field of a message. */
static int check_value(const AldField *field, const void *value)
{
        switch (field->type) {
        case ALD_TYPE_STRING:
                return check_string(field, *(const char *const *) value);
        case ALD_TYPE_STRV:
                return check_strv(field, *(const char *const *const *) value);
        case ALD_TYPE_UINT64:
                return check_number(field, (double) *(const uint64_t *) value);
        case ALD_TYPE_INT64:
                return check_number(field, (double) *(const int64_t *) value);
        case ALD_TYPE_DOUBLE:
                return check_number(field, *(const double *) value);
        case ALD_TYPE_BOOLEAN:
        case ALD_TYPE_ROWS:
                return 0;
        }
        g_assert_not_reached();
}

static int read_field(json_t *value, const AldStruct *type, const AldField *field, void *to, Reader *reader)
{
        int r;

        r = read_value(value, field, (char *) to + field->offset, reader);
        if (r >= 0 && reader->message)
                r = check_value(field, ald_field_of(field, to));
        if (r >= 0)
                return 0;
        if (reader->tolerant && r != -E2BIG) {
                ald_field_clear(type, field, to);
                return 0;
        }
        if (!reader->bad_field)
                reader->bad_field = field->name;
        return r;
}

static int check_required(const AldStruct *type, const void *fields, Reader *reader)
{
        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];

                if (field->required && ald_field_is_absent(field, ald_field_of(field, fields))) {
                        reader->bad_field = field->name;
                        return -EBADMSG;
                }
        }
        return 0;
}

static int read_fields(json_t *json, const AldStruct *type, void *to, Reader *reader)
{
        size_t next = 0;

        if (!json_is_object(json))
                return -EBADMSG;

        memcpy(to, type->absent, type->size);
        for (void *at = json_object_iter(json); at; at = json_object_iter_next(json, at)) {
                const AldField *field = ald_struct_find_next(type, json_object_iter_key(at), &next);
                int r;

                if (!field)
                        continue;
                r = read_field(json_object_iter_value(at), type, field, to, reader);
                if (r < 0)
                        return r;
        }
        return reader->message ? check_required(type, to, reader) : 0;
}

int ald_record_from_json(AldKind kind, json_t *json, AldRecord **ret, const char **ret_field)
{
        const AldStruct *type = ald_kinds[kind].type;
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        g_autofree void *fields = g_malloc(type->size);
        Reader reader = {
                .owned = owned, .message = kind >= ALD_N_KINDS, .tolerant = ald_kinds[kind].tolerant
        };
        int r;

        r = read_fields(json, type, fields, &reader);
        if (r >= 0)
                r = ald_record_new(kind, fields, ret);
        if (r < 0 && ret_field)
                *ret_field = reader.bad_field;
        return r;
}

json_t *ald_update_to_json(const AldUpdate *update)
{
        json_t *object = json_object();
        char node[ALD_ID_STRING_SIZE];

        set(object, "node", json_string_nocheck(ald_id_format(&update->node, node)));
        set(object, "kind", json_string_nocheck(ald_kinds[update->kind].name));
        set(object, "key", json_string_nocheck(update->key));
        set(object, "epoch", json_integer((json_int_t) update->stamp.epoch));
        set(object, "seq", json_integer((json_int_t) update->stamp.seq));
        set(object, "updated", json_integer((json_int_t) update->updated_usec));
        set(object, "deleted", json_boolean(!update->record));
        if (update->record)
                set(object, "fields", ald_record_to_json(update->record));
        return object;
}

/* The envelope of an update as JSON has it. */
typedef struct Envelope {
        const char *node, *kind, *key;
        uint64_t epoch, seq, updated;
        int deleted;
} Envelope;

static const AldField envelope_fields[] = {
        { .name = "node", .type = ALD_TYPE_STRING, .offset = offsetof(Envelope, node) },
        { .name = "kind", .type = ALD_TYPE_STRING, .offset = offsetof(Envelope, kind) },
        { .name = "key", .type = ALD_TYPE_STRING, .offset = offsetof(Envelope, key) },
        { .name = "epoch", .type = ALD_TYPE_UINT64, .offset = offsetof(Envelope, epoch) },
        { .name = "seq", .type = ALD_TYPE_UINT64, .offset = offsetof(Envelope, seq) },
        { .name = "updated", .type = ALD_TYPE_UINT64, .offset = offsetof(Envelope, updated) },
        { .name = "deleted", .type = ALD_TYPE_BOOLEAN, .offset = offsetof(Envelope, deleted) },
};

static const Envelope envelope_absent = {
        .epoch = ALD_ABSENT_UINT64,
        .seq = ALD_ABSENT_UINT64,
        .updated = ALD_ABSENT_UINT64,
};

static const AldStruct envelope_struct = {
        .name = "Envelope",
        .fields = envelope_fields,
        .n_fields = G_N_ELEMENTS(envelope_fields),
        .size = sizeof(Envelope),
        .absent = &envelope_absent,
};

static int read_envelope(json_t *json, Envelope *ret, const char **bad_field)
{
        Reader reader = { 0 };
        int r;

        r = read_fields(json, &envelope_struct, ret, &reader);
        if (r < 0) {
                *bad_field = reader.bad_field;
                return r;
        }
        for (size_t i = 0; i < envelope_struct.n_fields; i++) {
                const AldField *field = &envelope_fields[i];

                if (field->offset != offsetof(Envelope, key) &&
                        ald_field_is_absent(field, ald_field_of(field, ret))) {
                        *bad_field = field->name;
                        return -EBADMSG;
                }
        }
        return 0;
}

static int read_update(json_t *json, AldUpdate *ret, const char **bad_field)
{
        Envelope envelope;
        AldUpdate update = { 0 };
        int r;

        r = read_envelope(json, &envelope, bad_field);
        if (r < 0)
                return r;

        *bad_field = "node";
        r = ald_id_parse(envelope.node, &update.node);
        if (r < 0)
                return r;
        *bad_field = "kind";
        r = ald_kind_from_name(envelope.kind);
        if (r < 0)
                return r;
        update.kind = (AldKind) r;
        if (!envelope.deleted) {
                *bad_field = NULL;
                r = ald_record_from_json(
                        update.kind, json_object_get(json, "fields"), &update.record, bad_field);
                if (r == -EBADMSG && !*bad_field)
                        *bad_field = "fields";
                if (r < 0)
                        return r;
        }
        update.key = envelope.key ? envelope.key : "";
        update.stamp = (AldStamp){ envelope.epoch, envelope.seq };
        update.updated_usec = envelope.updated;
        *ret = update;
        return 0;
}

int ald_update_from_json(json_t *json, AldUpdate *ret, const char **ret_field)
{
        const char *bad_field = NULL;
        int r;

        r = read_update(json, ret, &bad_field);
        if (r < 0 && ret_field)
                *ret_field = bad_field;
        return r;
}
