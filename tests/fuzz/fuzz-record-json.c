/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was read is written as it was meant: reading it again gives the same record. */
static void check_record(AldKind kind, json_t *json)
{
        g_autoptr(AldRecord) record = NULL;
        g_autoptr(AldRecord) again = NULL;
        json_auto_t *written = NULL;

        if (ald_record_from_json(kind, json, &record, NULL) < 0)
                return;
        written = ald_record_to_json(record);
        g_assert_cmpint(ald_record_from_json(kind, written, &again, NULL), ==, 0);
        g_assert_cmpint(ald_record_compare(record, again), ==, 0);
        g_assert_cmpuint(record->hash, ==, again->hash);
}

static void check_update(json_t *json)
{
        g_autoptr(AldRecord) record = NULL;
        g_autoptr(AldRecord) record_again = NULL;
        json_auto_t *written = NULL;
        AldUpdate update, again;

        if (ald_update_from_json(json, &update, NULL) < 0)
                return;
        record = update.record;
        written = ald_update_to_json(&update);
        g_assert_cmpint(ald_update_from_json(written, &again, NULL), ==, 0);
        record_again = again.record;
        g_assert_cmpstr(update.key, ==, again.key);
        g_assert_true(!record == !record_again);
        if (record)
                g_assert_cmpint(ald_record_compare(record, record_again), ==, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        json_auto_t *json = NULL;

        if (ald_json_load((const char *) data, size, 1024u * 1024, &json, NULL) < 0)
                return 0;
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++)
                check_record(kind, json);
        check_update(json);
        return 0;
}
