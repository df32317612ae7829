/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include "placement/model/file-head.h"
#include "placement/model/safetensors-file.h"
#include "placement/model/tensor-sums.h"
#include "record/json-scan.h"

#define HEADER_MAX (16u * 1024 * 1024)
#define LENGTH_BYTES 8u
#define TYPE_NAME_MAX 15u

static const struct {
        const char *name;
        uint32_t bits;
} types[] = {
        { "BF16", 16 },
        { "BOOL", 8 },
        { "C64", 64 },
        { "F16", 16 },
        { "F32", 32 },
        { "F4", 4 },
        { "F64", 64 },
        { "F6_E2M3", 6 },
        { "F6_E3M2", 6 },
        { "F8_E4M3", 8 },
        { "F8_E4M3FNUZ", 8 },
        { "F8_E5M2", 8 },
        { "F8_E5M2FNUZ", 8 },
        { "F8_E8M0", 8 },
        { "I16", 16 },
        { "I32", 32 },
        { "I64", 64 },
        { "I8", 8 },
        { "U16", 16 },
        { "U32", 32 },
        { "U64", 64 },
        { "U8", 8 },
};

typedef struct Reader {
        AldScan scan;
        const char *path;
        uint64_t data;  /* bytes after the header */
        uint64_t total; /* bytes of the tensors so far */
        AldSafetensorFound found;
        void *userdata;
        char **ret_error;
} Reader;

/* The JSON object of a tensor. */
typedef struct Entry {
        char name[ALD_TENSOR_NAME_MAX + 1], type[TYPE_NAME_MAX + 1];
        bool has_shape, has_offsets;
        uint64_t elements, begin, end;
        uint64_t dims[ALD_SAFETENSOR_DIMS];
        unsigned n_dims;
} Entry;

static int fail_at_byte(Reader *reader, int r, const char *reason)
{
        return ald_file_fail(reader->ret_error, r, reader->path, "byte %" PRIu64 ": %s",
                (uint64_t) (reader->scan.at - reader->scan.start) + LENGTH_BYTES,
                reader->scan.problem ? reader->scan.problem : reason);
}

static int fail_entry(Reader *reader, const Entry *entry, int r, const char *reason)
{
        return ald_file_fail(reader->ret_error, r, reader->path, "byte %" PRIu64 ": tensor %s: %s",
                (uint64_t) (reader->scan.at - reader->scan.start) + LENGTH_BYTES, entry->name,
                reader->scan.problem ? reader->scan.problem : reason);
}

static int read_number(Reader *reader, uint64_t *ret)
{
        AldScanNumber number;
        char c = ald_scan_peek(&reader->scan);
        int r;

        if (!g_ascii_isdigit(c))
                return ald_scan_fail(&reader->scan, "not a whole number");
        r = ald_scan_number(&reader->scan, &number);
        if (r >= 0 && number.is_real)
                r = ald_scan_fail(&reader->scan, "not a whole number");
        if (r >= 0)
                *ret = (uint64_t) number.integer;
        return r;
}

static int enter_group(Reader *reader, char open, AldScanGroup *ret)
{
        if (ald_scan_peek(&reader->scan) != open)
                return ald_scan_fail(&reader->scan, open == '[' ? "not a list" : "not an object");
        return ald_scan_enter(&reader->scan, ret);
}

static int read_shape(Reader *reader, Entry *entry)
{
        AldScanGroup list;
        uint64_t length = 0;
        int r = enter_group(reader, '[', &list);

        entry->elements = 1;
        entry->has_shape = true;
        while (r >= 0 && (r = ald_scan_next(&reader->scan, &list)) > 0) {
                r = read_number(reader, &length);
                if (entry->n_dims < ALD_SAFETENSOR_DIMS)
                        entry->dims[entry->n_dims] = length;
                entry->n_dims++;
                if (r >= 0 && (__builtin_mul_overflow(entry->elements, length, &entry->elements) ||
                                      entry->elements > INT64_MAX))
                        r = ald_scan_fail(&reader->scan, "more elements than 64 bits hold");
        }
        return r;
}

static int read_offsets(Reader *reader, Entry *entry)
{
        uint64_t *const to[] = { &entry->begin, &entry->end };
        unsigned n = 0;
        AldScanGroup list;
        int r = enter_group(reader, '[', &list);

        entry->has_offsets = true;
        while (r >= 0 && (r = ald_scan_next(&reader->scan, &list)) > 0)
                r = n < G_N_ELEMENTS(to) ? read_number(reader, to[n++])
                                         : ald_scan_fail(&reader->scan, "more than two offsets");
        if (r >= 0 && n != G_N_ELEMENTS(to))
                r = ald_scan_fail(&reader->scan, "less than two offsets");
        return r;
}

static int read_type(Reader *reader, Entry *entry)
{
        AldScanString string;
        int r = ald_scan_string(&reader->scan, &string);

        if (r < 0)
                return r;
        if (string.n > TYPE_NAME_MAX || !ald_file_name_is_plain(string.bytes, string.n))
                return ald_scan_fail(&reader->scan, "not the name of a type");
        memcpy(entry->type, string.bytes, string.n + 1);
        return 0;
}

static int read_field(Reader *reader, Entry *entry)
{
        AldScanString key;
        int r = ald_scan_key(&reader->scan, &key);

        if (r < 0)
                return r;
        if (strcmp(key.bytes, "dtype") == 0 && !entry->type[0])
                return read_type(reader, entry);
        if (strcmp(key.bytes, "shape") == 0 && !entry->has_shape)
                return read_shape(reader, entry);
        if (strcmp(key.bytes, "data_offsets") == 0 && !entry->has_offsets)
                return read_offsets(reader, entry);
        return ald_scan_fail(&reader->scan, "a key that is unknown or stated twice");
}

static uint32_t find_bits(const char *type)
{
        for (size_t i = 0; i < G_N_ELEMENTS(types); i++)
                if (strcmp(types[i].name, type) == 0)
                        return types[i].bits;
        return 0;
}

static int report_tensor(Reader *reader, const Entry *entry)
{
        AldSafetensor tensor = { .name = entry->name,
                .type = entry->type,
                .bits = find_bits(entry->type),
                .elements = entry->elements,
                .n_dims = entry->n_dims };
        const char *reason = NULL;
        uint64_t bits;
        int r;

        if (!entry->type[0] || !entry->has_shape || !entry->has_offsets)
                return fail_entry(reader, entry, -EBADMSG, "dtype, shape or data_offsets is missing");
        if (tensor.bits == 0) {
                g_autofree char *unknown = g_strdup_printf("the type %s is not known", entry->type);

                return fail_entry(reader, entry, -EOPNOTSUPP, unknown);
        }
        if (__builtin_mul_overflow(tensor.elements, (uint64_t) tensor.bits, &bits) || bits % 8 != 0)
                return fail_entry(reader, entry, -EBADMSG, "not a number of whole bytes, or too many");
        tensor.bytes = bits / 8;
        memcpy(tensor.dims, entry->dims, sizeof tensor.dims);
        if (entry->begin > entry->end || entry->end > reader->data)
                return fail_entry(reader, entry, -EBADMSG, "its data is not inside of the file");
        if (entry->end - entry->begin != tensor.bytes)
                return fail_entry(reader, entry, -EBADMSG, "its offsets do not fit its shape and type");
        if (__builtin_add_overflow(reader->total, tensor.bytes, &reader->total))
                return fail_entry(reader, entry, -EBADMSG, "the tensors have too many bytes");
        r = reader->found(&tensor, reader->userdata, &reason);
        return r < 0 ? fail_entry(reader, entry, r, reason) : 0;
}

static int read_entry(Reader *reader, const AldScanString *name)
{
        Entry entry = { 0 };
        AldScanGroup object;
        int r;

        if (name->n > ALD_TENSOR_NAME_MAX || !ald_file_name_is_plain(name->bytes, name->n))
                return fail_at_byte(
                        reader, -EBADMSG, "the name of a tensor is too long, or not printable ASCII");
        memcpy(entry.name, name->bytes, name->n + 1);
        r = enter_group(reader, '{', &object);
        while (r >= 0 && (r = ald_scan_next(&reader->scan, &object)) > 0)
                r = read_field(reader, &entry);
        return r < 0 ? fail_entry(reader, &entry, r, "not a tensor") : report_tensor(reader, &entry);
}

/* Reads all entries. The strings of an entry are not needed afterwards, so each entry reuses the same
 * room. */
static int read_entries(Reader *reader)
{
        char *room = reader->scan.room;
        AldScanString name;
        AldScanGroup object;
        int r = enter_group(reader, '{', &object);

        if (r < 0)
                return fail_at_byte(reader, r, "not a header");
        for (;;) {
                reader->scan.room = room;
                r = ald_scan_next(&reader->scan, &object);
                if (r == 0)
                        r = ald_scan_finish(&reader->scan);
                else if (r > 0 && (r = ald_scan_key(&reader->scan, &name)) >= 0) {
                        bool metadata = strcmp(name.bytes, "__metadata__") == 0;

                        r = metadata ? ald_scan_skip(&reader->scan) : read_entry(reader, &name);
                        if (r < 0 && !metadata)
                                return r;
                        if (r >= 0)
                                continue;
                }
                return r < 0 ? fail_at_byte(reader, r, "not a header") : 0;
        }
}

static int read_text(AldFileHead *head, char **ret, size_t *ret_n)
{
        g_autofree char *text = NULL;
        uint64_t n = 0;
        int r = ald_file_head_u64(head, &n);

        if (r >= 0 && n > HEADER_MAX)
                r = ald_file_head_fail(head, -E2BIG,
                        "the header has %" PRIu64 " bytes; at most %u can be read", n, HEADER_MAX);
        if (r >= 0 && n > head->size - head->at)
                r = ald_file_head_fail(head, -EBADMSG, "the file ends inside of its header");
        if (r < 0)
                return r;
        text = g_malloc((size_t) n + 1);
        r = ald_file_head_read(head, text, (size_t) n);
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&text);
        *ret_n = (size_t) n;
        return 0;
}

int ald_safetensors_file_read(const char *path, AldSafetensorFound found, void *userdata, char **ret_error)
{
        g_auto(AldFileHead) head = ALD_FILE_HEAD_CLOSED;
        g_autofree char *text = NULL, *room = NULL;
        Reader reader = { .path = path, .found = found, .userdata = userdata, .ret_error = ret_error };
        size_t n = 0;
        int r;

        r = ald_file_head_open(&head, path, HEADER_MAX + LENGTH_BYTES, ret_error);
        if (r >= 0)
                r = read_text(&head, &text, &n);
        if (r < 0)
                return r;
        room = g_malloc(n + 1);
        reader.scan = (AldScan){ .start = text, .at = text, .end = text + n, .room = room };
        reader.data = head.size - head.at;
        r = read_entries(&reader);
        if (r >= 0 && reader.total != reader.data)
                r = ald_file_fail(ret_error, -EBADMSG, path,
                        "its tensors have %" PRIu64 " bytes, but %" PRIu64 " follow the header", reader.total,
                        reader.data);
        return r;
}
