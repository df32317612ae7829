/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/character.h"
#include "record/json-scan.h"
#include "record/json.h"
#include "record/message.h"

/* Initial capacity; the array grows as rows come. */
#define ROWS_USUAL 8u

/* The state of reading one record. Strings lie in the room of the scan; rows and lists are owned here. */
typedef struct Reader {
        AldScan scan;
        GPtrArray *owned;
        size_t held; /* bytes of rows and lists */
        const char *bad_field;
        bool message, tolerant;          /* the fields are checked; invalid ones are left out */
        bool has_unknown;                /* a key was skipped */
        bool verbatim;                   /* unsafe characters are kept */
        struct EmbeddedRecord *embedded; /* in an update, else NULL */
} Reader;

/* The envelope of an update in JSON. */
typedef struct Envelope {
        const char *node, *kind, *key;
        uint64_t epoch, seq, updated, revision;
        int deleted;
} Envelope;

/* The record inside an update. */
typedef struct EmbeddedRecord {
        int kind;                 /* -1 while it is not known */
        const Envelope *envelope; /* as far as it has been read */
        AldScan later;            /* position of the fields, if they came before the kind */
        AldRecord *record;
} EmbeddedRecord;

static int read_fields(Reader *reader, const AldStruct *type, void *to);

/* Charges memory to the record. "{}" is far larger in memory than in JSON, so reading stops once the result
 * cannot fit into a record. */
static int reserve_bytes(Reader *reader, size_t size)
{
        if (size > ALD_RECORD_MAX - reader->held)
                return -E2BIG;
        reader->held += size;
        return 0;
}

/* Reads a string from a peer. It goes to terminals, logs and mail, so characters with other effects than
 * being shown are replaced. */
static int read_string(Reader *reader, const char **ret)
{
        AldScanString string;
        char *safe;
        int r;

        if (ald_scan_peek(&reader->scan) != '"')
                return -EBADMSG;
        r = ald_scan_string(&reader->scan, &string);
        if (r < 0)
                return r;
        if (string.n > ALD_STRING_MAX)
                return -ERANGE;
        *ret = string.bytes;
        /* A message is not sanitized, since check_string() refuses such a text. */
        safe = string.plain || reader->message || reader->verbatim
                       ? NULL
                       : ald_characters_replace_unsafe(string.bytes);
        if (!safe)
                return 0;
        g_ptr_array_add(reader->owned, safe);
        *ret = safe;
        return strlen(safe) > ALD_STRING_MAX ? -ERANGE : reserve_bytes(reader, strlen(safe));
}

static int read_number(Reader *reader, AldScanNumber *ret)
{
        char c = ald_scan_peek(&reader->scan);

        return g_ascii_isdigit(c) || c == '-' ? ald_scan_number(&reader->scan, ret) : -EBADMSG;
}

/* Checks a double before converting it, since beyond 2^63 no integer can hold it. */
static int read_integer(Reader *reader, int64_t least, int64_t *ret)
{
        AldScanNumber number;
        int r;

        r = read_number(reader, &number);
        if (r < 0)
                return r;
        if (number.is_real && number.real != trunc(number.real))
                return -EBADMSG;
        if (number.is_real && fabs(number.real) > (double) ALD_INTEGER_MAX)
                return -ERANGE;
        if (number.is_real)
                number.integer = (int64_t) number.real;
        if (number.integer < least || number.integer > ALD_INTEGER_MAX)
                return -ERANGE;
        *ret = number.integer;
        return 0;
}

static int read_double(Reader *reader, double *ret)
{
        AldScanNumber number;
        int r = read_number(reader, &number);

        if (r >= 0)
                *ret = number.real;
        return r;
}

static int read_boolean(Reader *reader, int *ret)
{
        char c = ald_scan_peek(&reader->scan);
        bool truth;
        int r;

        if (c != 't' && c != 'f')
                return -EBADMSG;
        r = ald_scan_boolean(&reader->scan, &truth);
        if (r >= 0)
                *ret = truth;
        return r;
}

static int read_strv(Reader *reader, const char *const **ret)
{
        const char *const *strings;
        GPtrArray *strv;
        AldScanGroup list;
        int r;

        if (ald_scan_peek(&reader->scan) != '[')
                return -EBADMSG;
        strv = g_ptr_array_new();
        r = ald_scan_enter(&reader->scan, &list);
        while (r >= 0 && (r = ald_scan_next(&reader->scan, &list)) > 0) {
                const char *string = NULL;

                r = reserve_bytes(reader, sizeof string);
                if (r >= 0)
                        r = read_string(reader, &string);
                g_ptr_array_add(strv, (gpointer) string);
        }
        g_ptr_array_add(strv, NULL);
        strings = (const char *const *) g_ptr_array_free(strv, FALSE);
        g_ptr_array_add(reader->owned, (gpointer) strings);
        if (r >= 0)
                *ret = strings;
        return r;
}

/* Skips an invalid value if the reader is tolerant and the JSON itself is valid. */
static int skip_invalid(Reader *reader, const AldScan *before, int error)
{
        if (!reader->tolerant || error == -E2BIG || reader->scan.problem)
                return error;
        reader->scan = *before;
        reader->bad_field = NULL;
        return ald_scan_skip(&reader->scan);
}

/* Reads a row. An invalid one is cleared, so that ald_record_new() drops it for its missing Id. */
static int read_row(Reader *reader, const AldStruct *type, void *to)
{
        const AldScan before = reader->scan;
        int r;

        r = read_fields(reader, type, to);
        if (r < 0) {
                memcpy(to, type->absent, type->size);
                r = skip_invalid(reader, &before, r);
        }
        return r;
}

static int read_rows(Reader *reader, const AldField *field, AldRows *rows)
{
        const size_t most = field->limited_above ? (size_t) field->maximum : SIZE_MAX;
        size_t size = rows->type->size;
        AldScanGroup list;
        GArray *items;
        int r;

        if (ald_scan_peek(&reader->scan) != '[')
                return -EBADMSG;
        items = g_array_sized_new(false, false, (guint) size, ROWS_USUAL);
        r = ald_scan_enter(&reader->scan, &list);
        while (r >= 0 && (r = ald_scan_next(&reader->scan, &list)) > 0) {
                if (items->len >= most) {
                        /* A record keeps the rows read so far. */
                        r = reader->tolerant || !reader->message ? ald_scan_skip(&reader->scan) : -ERANGE;
                        continue;
                }
                r = reserve_bytes(reader, size);
                if (r < 0)
                        break;
                g_array_set_size(items, items->len + 1);
                r = read_row(reader, rows->type, items->data + (items->len - 1) * size);
        }
        rows->n = items->len;
        rows->items = g_array_free(items, FALSE);
        g_ptr_array_add(reader->owned, (gpointer) rows->items);
        return r;
}

static int read_value(Reader *reader, const AldField *field, void *to)
{
        switch (field->type) {
        case ALD_TYPE_STRING:
                return read_string(reader, to);
        case ALD_TYPE_UINT64:
                return read_integer(reader, 0, to);
        case ALD_TYPE_INT64:
                return read_integer(reader, -ALD_INTEGER_MAX, to);
        case ALD_TYPE_DOUBLE:
                return read_double(reader, to);
        case ALD_TYPE_BOOLEAN:
                return read_boolean(reader, to);
        case ALD_TYPE_STRV:
                return read_strv(reader, to);
        case ALD_TYPE_ROWS:
                return read_rows(reader, field, to);
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
                r = *strv[n] ? check_string(field, strv[n]) : -ERANGE; /* a record cannot hold "" */
        return r >= 0 && field->limited_above && (double) n > field->maximum ? -ERANGE : r;
}

static int check_number(const AldField *field, double number)
{
        return (field->limited_below && number < field->minimum) ||
                               (field->limited_above && number > field->maximum)
                       ? -ERANGE
                       : 0;
}

/* Checks the limits that the schema sets for a field of a message. */
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

static int read_field(Reader *reader, const AldField *field, void *to)
{
        const AldScan before = reader->scan;
        int r;

        r = read_value(reader, field, (char *) to + field->offset);
        if (r >= 0 && reader->message)
                r = check_value(field, ald_field_of(field, to));
        if (r >= 0)
                return 0;
        if (!reader->bad_field)
                reader->bad_field = field->name;
        ald_field_clear(field, (char *) to + field->offset);
        return skip_invalid(reader, &before, r);
}

static int check_required(Reader *reader, const AldStruct *type, const void *fields)
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

/* The keys of an object read so far: known fields by their index in the table, others by name. */
typedef struct Seen {
        uint64_t fields;
        GHashTable *others;
} Seen;

static int note_seen(
        Reader *reader, Seen *seen, const AldStruct *type, const AldField *field, const char *key)
{
        uint64_t bit = field ? UINT64_C(1) << (field - type->fields) : 0;
        bool twice = seen->fields & bit;

        if (!field)
                return ald_scan_note_key(&reader->scan, &seen->others, key);
        seen->fields |= bit;
        return twice ? ald_scan_fail(&reader->scan, "a duplicate key") : 0;
}

static int read_record(Reader *reader, AldKind kind, AldRecord **ret)
{
        /* A message may have no fields, so that its struct is empty. */
        g_autofree void *fields = g_malloc(MAX(ald_kinds[kind].type->size, 1));
        int r = read_fields(reader, ald_kinds[kind].type, fields);

        return r < 0 ? r : ald_record_new(kind, fields, ret);
}

static int read_embedded(Reader *reader)
{
        EmbeddedRecord *embedded = g_steal_pointer(&reader->embedded); /* the record itself embeds no other */
        int r;

        if (embedded->kind < 0 && embedded->envelope->kind)
                embedded->kind = ald_kind_from_name(embedded->envelope->kind);
        if (embedded->kind < 0 || embedded->envelope->deleted) {
                embedded->later = reader->scan;
                r = ald_scan_skip(&reader->scan);
        } else {
                r = read_record(reader, (AldKind) embedded->kind, &embedded->record);
                if (r < 0 && !reader->bad_field)
                        reader->bad_field = "fields";
        }
        reader->embedded = embedded;
        return r;
}

static int read_entries(
        Reader *reader, const AldStruct *type, void *to, Seen *seen, AldScanGroup *object, size_t *next)
{
        AldScanString key;
        int r;

        while ((r = ald_scan_next(&reader->scan, object)) > 0) {
                const AldField *field;

                r = ald_scan_key(&reader->scan, &key);
                if (r < 0)
                        return r;
                field = ald_struct_find_next(type, key.bytes, next);
                r = note_seen(reader, seen, type, field, key.bytes);
                if (r >= 0 && !field && reader->embedded && strcmp(key.bytes, "fields") == 0)
                        r = read_embedded(reader);
                else if (r >= 0 && field)
                        r = read_field(reader, field, to);
                else if (r >= 0) {
                        reader->has_unknown = true;
                        r = ald_scan_skip(&reader->scan);
                }
                if (r < 0)
                        return r;
        }
        return r;
}

static int read_fields(Reader *reader, const AldStruct *type, void *to)
{
        AldScanGroup object;
        Seen seen = { 0 };
        size_t next = 0;
        int r;

        memcpy(to, type->absent, type->size);
        if (ald_scan_peek(&reader->scan) != '{')
                return -EBADMSG;
        r = ald_scan_enter(&reader->scan, &object);
        if (r >= 0)
                r = read_entries(reader, type, to, &seen, &object, &next);
        g_clear_pointer(&seen.others, g_hash_table_unref);
        return r >= 0 && reader->message ? check_required(reader, type, to) : r;
}

static void begin_reading(Reader *reader, const char *bytes, size_t n)
{
        const char *text = bytes ?: "";

        *reader = (Reader){
                .scan = { .start = text, .at = text, .end = text + n, .room = g_malloc(n + 1) },
                .owned = g_ptr_array_new_with_free_func(g_free),
        };
        g_ptr_array_add(reader->owned, reader->scan.room);
}

static int end_reading(Reader *reader, int r, AldJsonFault *ret)
{
        if (ret)
                *ret = (AldJsonFault){ .has_unknown = reader->has_unknown };
        if (r < 0 && ret)
                *ret = (AldJsonFault){ .field = reader->scan.problem ? NULL : reader->bad_field,
                        .problem = reader->scan.problem,
                        .at = (size_t) (reader->scan.at - reader->scan.start) };
        g_ptr_array_unref(reader->owned);
        return r;
}

char *ald_json_fault_describe(const AldJsonFault *fault, int error)
{
        if (fault->problem)
                return g_strdup_printf("byte %zu: %s", fault->at, fault->problem);
        if (fault->field)
                return g_strdup_printf("%s: %s", fault->field, ald_record_describe(error));
        return g_strdup(ald_record_describe(error));
}

int ald_record_from_text(AldKind kind, const char *bytes, size_t n, AldRecord **ret, AldJsonFault *ret_fault)
{
        AldRecord *record = NULL;
        Reader reader;
        int r;

        begin_reading(&reader, bytes, n);
        reader.message = kind >= ALD_N_KINDS;
        reader.tolerant = ald_kinds[kind].tolerant;
        r = read_record(&reader, kind, &record);
        if (r >= 0)
                r = ald_scan_finish(&reader.scan);
        if (r >= 0)
                *ret = record;
        else if (record)
                ald_record_unref(record);
        return end_reading(&reader, r, ret_fault);
}

int ald_record_from_json(AldKind kind, json_t *json, AldRecord **ret, const char **ret_field)
{
        char *text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);
        AldJsonFault fault;
        int r;

        if (!text)
                return -EBADMSG;
        r = ald_record_from_text(kind, text, strlen(text), ret, &fault);
        free(text);
        if (r < 0 && ret_field)
                *ret_field = fault.field;
        return r;
}

static const AldField envelope_fields[] = {
        { .name = "node", .type = ALD_TYPE_STRING, .offset = offsetof(Envelope, node), .required = true },
        { .name = "kind", .type = ALD_TYPE_STRING, .offset = offsetof(Envelope, kind), .required = true },
        { .name = "key", .type = ALD_TYPE_STRING, .offset = offsetof(Envelope, key) },
        { .name = "epoch", .type = ALD_TYPE_UINT64, .offset = offsetof(Envelope, epoch), .required = true },
        { .name = "seq", .type = ALD_TYPE_UINT64, .offset = offsetof(Envelope, seq), .required = true },
        { .name = "updated",
                .type = ALD_TYPE_UINT64,
                .offset = offsetof(Envelope, updated),
                .required = true },
        { .name = "revision", .type = ALD_TYPE_UINT64, .offset = offsetof(Envelope, revision) },
        { .name = "deleted", .type = ALD_TYPE_BOOLEAN, .offset = offsetof(Envelope, deleted) },
};

static const Envelope envelope_absent = {
        .epoch = ALD_ABSENT_UINT64,
        .seq = ALD_ABSENT_UINT64,
        .updated = ALD_ABSENT_UINT64,
        .revision = ALD_ABSENT_UINT64,
};

static const AldStruct envelope_struct = {
        .name = "Envelope",
        .fields = envelope_fields,
        .n_fields = G_N_ELEMENTS(envelope_fields),
        .size = sizeof(Envelope),
        .absent = &envelope_absent,
};

/* The envelope of an update whose topic already names node, kind and key. */
static const AldStruct stamp_struct = {
        .name = "Stamp",
        .fields = envelope_fields + 3,
        .n_fields = G_N_ELEMENTS(envelope_fields) - 3,
        .size = sizeof(Envelope),
        .absent = &envelope_absent,
};

static int fail_on_field(Reader *reader, const char *field, int error)
{
        reader->bad_field = field;
        return error;
}

/* Applies the envelope to the record, once all of it has been read. */
static int finish_update(Reader *reader, EmbeddedRecord *embedded, const Envelope *envelope)
{
        int r = 0;

        if (embedded->kind < 0) {
                embedded->kind = ald_kind_from_name(envelope->kind);
                if (embedded->kind < 0)
                        return fail_on_field(reader, "kind", embedded->kind);
        }
        if (envelope->deleted) {
                g_clear_pointer(&embedded->record, ald_record_unref);
                return 0;
        }
        if (!embedded->record && embedded->later.at) {
                embedded->later.room = reader->scan.room; /* the strings of the envelope stay */
                reader->scan = embedded->later;
                reader->embedded = embedded;
                r = read_embedded(reader);
        }
        return r < 0 || embedded->record ? r : fail_on_field(reader, "fields", -EBADMSG);
}

static int read_update(Reader *reader, const AldStruct *type, Envelope *envelope, EmbeddedRecord *embedded)
{
        int r;

        reader->embedded = embedded;
        r = read_fields(reader, type, envelope);
        reader->embedded = NULL;
        if (r >= 0)
                r = ald_scan_finish(&reader->scan);
        if (r >= 0)
                r = check_required(reader, type, envelope);
        if (r >= 0)
                r = finish_update(reader, embedded, envelope);
        if (r < 0)
                g_clear_pointer(&embedded->record, ald_record_unref);
        return r;
}

int ald_update_from_text(
        const char *bytes, size_t n, bool verbatim, AldUpdate *ret, char **ret_key, AldJsonFault *ret_fault)
{
        Envelope envelope = envelope_absent;
        EmbeddedRecord embedded = { .kind = -1, .envelope = &envelope };
        AldId node;
        Reader reader;
        int r;

        begin_reading(&reader, bytes, n);
        reader.verbatim = verbatim;
        r = read_update(&reader, &envelope_struct, &envelope, &embedded);
        if (r >= 0 && ald_id_parse(envelope.node, &node) < 0) {
                g_clear_pointer(&embedded.record, ald_record_unref);
                r = fail_on_field(&reader, "node", -EINVAL);
        }
        if (r >= 0 && embedded.record && envelope.revision != ALD_ABSENT_UINT64)
                embedded.record->revision = envelope.revision;
        if (r >= 0) {
                *ret_key = g_strdup(envelope.key ? envelope.key : "");
                *ret = (AldUpdate){ .node = node,
                        .kind = (AldKind) embedded.kind,
                        .key = *ret_key,
                        .stamp = { envelope.epoch, envelope.seq },
                        .updated_usec = envelope.updated,
                        .record = embedded.record };
        }
        return end_reading(&reader, r, ret_fault);
}

int ald_update_complete_from_text(const char *bytes, size_t n, AldUpdate *update, AldJsonFault *ret_fault)
{
        Envelope envelope = envelope_absent;
        EmbeddedRecord embedded = { .kind = (int) update->kind, .envelope = &envelope };
        Reader reader;
        int r;

        begin_reading(&reader, bytes, n);
        r = read_update(&reader, &stamp_struct, &envelope, &embedded);
        if (r >= 0) {
                update->stamp = (AldStamp){ envelope.epoch, envelope.seq };
                update->updated_usec = envelope.updated;
                update->record = embedded.record;
        }
        return end_reading(&reader, r, ret_fault);
}
