/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "placement/model/file-head.h"
#include "placement/model/hf-keys.h"
#include "placement/model/safetensors-index.h"
#include "placement/model/tensor-sums.h"
#include "record/json-scan.h"

#define INDEX_MAX (32u * 1024 * 1024)
#define FILES_MAX 1024u
#define FILE_NAME_MAX 255u

typedef struct Reader {
        AldScan scan;
        AldSafetensorsIndex index;
} Reader;

void ald_safetensors_index_clear(AldSafetensorsIndex *index)
{
        g_clear_pointer(&index->files, g_ptr_array_unref);
}

/* Returns whether it is the plain name of a file; a path could lead out of the folder. */
static bool is_file_name(const AldScanString *name)
{
        return name->n <= FILE_NAME_MAX && ald_file_name_is_plain(name->bytes, name->n) &&
               name->bytes[0] != '.' && !strchr(name->bytes, '/');
}

/* Adds the file unless it is known. The last ones come first, since tensors of the same file mostly follow
 * each other. */
static int note_file(Reader *reader, const AldScanString *name)
{
        GPtrArray *files = reader->index.files;

        if (!is_file_name(name))
                return ald_scan_fail(&reader->scan, "not the name of a file in the same folder");
        for (unsigned i = files->len; i > 0; i--)
                if (strcmp(files->pdata[i - 1], name->bytes) == 0)
                        return 0;
        if (files->len >= FILES_MAX)
                return ald_scan_fail(&reader->scan, "more files than can be read");
        g_ptr_array_add(files, g_strdup(name->bytes));
        return 0;
}

static int read_map(Reader *reader)
{
        char *room = reader->scan.room;
        AldScanString string;
        AldScanGroup object;
        int r;

        if (ald_scan_peek(&reader->scan) != '{')
                return ald_scan_fail(&reader->scan, "weight_map is not an object");
        r = ald_scan_enter(&reader->scan, &object);
        while (r >= 0 && (r = ald_scan_next(&reader->scan, &object)) > 0) {
                reader->scan.room = room;
                r = ald_scan_key(&reader->scan, &string);
                if (r >= 0)
                        r = ald_scan_string(&reader->scan, &string);
                if (r >= 0)
                        r = note_file(reader, &string);
                if (r >= 0 && ++reader->index.n_tensors > ALD_TENSORS_MAX)
                        r = ald_scan_fail(&reader->scan, "more tensors than can be read");
        }
        return r;
}

static int read_index(Reader *reader)
{
        bool mapped = false;
        AldScanString key;
        AldScanGroup object;
        int r;

        if (ald_scan_peek(&reader->scan) != '{')
                return ald_scan_fail(&reader->scan, "not an object");
        r = ald_scan_enter(&reader->scan, &object);
        while (r >= 0 && (r = ald_scan_next(&reader->scan, &object)) > 0) {
                bool is_map;

                r = ald_scan_key(&reader->scan, &key);
                if (r < 0)
                        break;
                is_map = strcmp(key.bytes, "weight_map") == 0;
                if (is_map && mapped)
                        return ald_scan_fail(&reader->scan, "weight_map occurs twice");
                mapped = mapped || is_map;
                r = is_map ? read_map(reader) : ald_scan_skip(&reader->scan);
        }
        if (r >= 0)
                r = ald_scan_finish(&reader->scan);
        if (r >= 0 && reader->index.files->len == 0)
                r = ald_scan_fail(&reader->scan, "weight_map names no file");
        return r;
}

static int compare_names(const void *a, const void *b)
{
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

int ald_safetensors_index_read(const char *path, AldSafetensorsIndex *ret, char **ret_error)
{
        g_autofree char *text = NULL, *room = NULL;
        Reader reader = { 0 };
        size_t n = 0;
        int r;

        r = ald_text_file_read(path, INDEX_MAX, &text, &n, ret_error);
        if (r < 0)
                return r;
        room = g_malloc(n + 1);
        reader.scan = (AldScan){ .start = text, .at = text, .end = text + n, .room = room };
        reader.index.files = g_ptr_array_new_with_free_func(g_free);
        r = read_index(&reader);
        if (r < 0) {
                ald_safetensors_index_clear(&reader.index);
                return ald_file_fail(ret_error, r, path, "byte %" PRIu64 ": %s",
                        (uint64_t) (reader.scan.at - reader.scan.start), reader.scan.problem);
        }
        g_ptr_array_sort(reader.index.files, compare_names);
        *ret = reader.index;
        return 0;
}
