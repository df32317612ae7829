/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "record/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_same(AldRecord *record, AldRecord *again)
{
        g_assert_cmpint(ald_record_compare(record, again), ==, 0);
        g_assert_cmpuint(record->hash, ==, again->hash);
}

/* What was read is written as it was meant: reading it again gives the same record. What jansson makes of the
 * text is the same to our reader as the text itself. */
static void check_record(AldKind kind, const char *text, size_t n, json_t *json)
{
        g_autoptr(AldRecord) record = NULL;
        g_autoptr(AldRecord) again = NULL;
        g_autoptr(AldRecord) by_tree = NULL;
        json_auto_t *written = NULL;
        AldJsonFault fault = { 0 };
        const char *field = NULL;
        int r;

        r = ald_record_from_text(kind, text, n, &record, &fault);
        if (!json || memchr(text, '\0', n)) { /* jansson takes a NUL behind a number */
                g_assert_cmpint(r, <, 0);
                return;
        }
        if (g_strcmp0(fault.problem, "too many unknown keys") == 0) /* jansson has no limit */
                return;
        g_assert_cmpstr(fault.problem, ==, NULL);
        g_assert_cmpint(ald_record_from_json(kind, json, &by_tree, &field), ==, r);
        g_assert_cmpstr(fault.field, ==, field);
        if (r < 0)
                return;
        check_same(record, by_tree);
        written = ald_record_to_json(record);
        g_assert_cmpint(ald_record_from_json(kind, written, &again, NULL), ==, 0);
        check_same(record, again);
}

static void check_update(const char *text, size_t n)
{
        g_autoptr(AldRecord) record = NULL;
        g_autoptr(AldRecord) record_again = NULL;
        g_autofree char *key = NULL, *key_again = NULL;
        g_autoptr(GString) written = g_string_new(NULL);
        AldUpdate update, again;

        if (ald_update_from_text(text, n, false, &update, &key, NULL) < 0)
                return;
        record = update.record;
        ald_update_append_text(written, &update, true);
        g_assert_cmpint(
                ald_update_from_text(written->str, written->len, false, &again, &key_again, NULL), ==, 0);
        record_again = again.record;
        g_assert_cmpstr(update.key, ==, again.key);
        g_assert_true(!record == !record_again);
        if (record)
                check_same(record, record_again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const char *text = (const char *) data;
        json_auto_t *json = NULL;

        (void) ald_json_load(text, size, 1024u * 1024, &json, NULL);
        for (AldKind kind = 0; kind < ALD_N_ALL_KINDS; kind++)
                check_record(kind, text, size, json);
        check_update(text, size);
        return 0;
}
