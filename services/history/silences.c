/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "record/id.h"
#include "record/json.h"
#include "services/history/silences.h"
#include "state/alerts/silence.h"

struct AldSilences {
        GPtrArray *rows; /* of AldSilenceRow, oldest first */
};

AldSilences *ald_silences_new(void)
{
        AldSilences *silences = g_new(AldSilences, 1);

        silences->rows = g_ptr_array_new_with_free_func(g_free);
        return silences;
}

void ald_silences_free(AldSilences *silences)
{
        if (!silences)
                return;
        g_ptr_array_unref(silences->rows);
        g_free(silences);
}

static bool is_id(const char *text)
{
        AldId id;

        return text && ald_id_parse(text, &id) >= 0;
}

static bool is_valid(const AldSilenceRow *row)
{
        return is_id(row->node) && (!row->peer || (is_id(row->peer) && strcmp(row->node, row->peer) != 0)) &&
               row->began_usec != ALD_ABSENT_UINT64 &&
               (!row->reason || strlen(row->reason) <= ALD_SILENCE_REASON_MAX);
}

/* Returns whether a silence has these nodes. The direction of a link does not matter. */
static bool matches_nodes(const AldSilenceRow *row, const char *node, const char *peer)
{
        if (!row->peer || !peer)
                return !row->peer && !peer && strcmp(row->node, node) == 0;
        return (strcmp(row->node, node) == 0 && strcmp(row->peer, peer) == 0) ||
               (strcmp(row->node, peer) == 0 && strcmp(row->peer, node) == 0);
}

int ald_silences_add(AldSilences *silences, const AldSilenceRow *row)
{
        if (!is_valid(row))
                return -EINVAL;
        if (ald_silences_remove(silences, row->node, row->peer) < 0 &&
                silences->rows->len >= ALD_SILENCES_MAX)
                return -E2BIG;
        g_ptr_array_add(silences->rows, ald_struct_dup(&ald_silence_row_struct, row));
        return 0;
}

int ald_silences_remove(AldSilences *silences, const char *node, const char *peer)
{
        for (guint i = 0; i < silences->rows->len; i++)
                if (matches_nodes(silences->rows->pdata[i], node, peer)) {
                        g_ptr_array_remove_index(silences->rows, i);
                        return 0;
                }
        return -ENOENT;
}

bool ald_silences_expire(AldSilences *silences, uint64_t now)
{
        const guint before = silences->rows->len;

        for (guint i = before; i > 0; i--) {
                const AldSilenceRow *row = silences->rows->pdata[i - 1];

                if (row->until_usec != ALD_ABSENT_UINT64 && row->until_usec <= now)
                        g_ptr_array_remove_index(silences->rows, i - 1);
        }
        return silences->rows->len < before;
}

uint64_t ald_silences_due(const AldSilences *silences)
{
        uint64_t due = ALD_ABSENT_UINT64;

        for (guint i = 0; i < silences->rows->len; i++)
                due = MIN(due, ((const AldSilenceRow *) silences->rows->pdata[i])->until_usec);
        return due;
}

bool ald_silences_cover(const AldSilences *silences, const AldFindingRow *finding)
{
        for (guint i = 0; i < silences->rows->len; i++)
                if (ald_silence_covers(silences->rows->pdata[i], finding))
                        return true;
        return false;
}

const GPtrArray *ald_silences_rows(const AldSilences *silences)
{
        return silences->rows;
}

json_t *ald_silences_to_json(const AldSilences *silences)
{
        json_t *array = json_array();

        for (guint i = 0; i < silences->rows->len; i++)
                json_array_append_new(
                        array, ald_struct_to_json(&ald_silence_row_struct, silences->rows->pdata[i]));
        return array;
}

unsigned ald_silences_add_json(AldSilences *silences, json_t *array)
{
        unsigned dropped = 0;
        json_t *json;
        size_t i;

        json_array_foreach(array, i, json) {
                g_autofree AldSilenceRow *row = ald_struct_from_json(&ald_silence_row_struct, json);

                if (!row || ald_silences_add(silences, row) < 0)
                        dropped++;
        }
        return dropped;
}
