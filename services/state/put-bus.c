/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "record/update-bus.h"
#include "services/state/presences.h"
#include "services/state/put-bus.h"

static bool refuse_row(AldStateManager *manager, const AldUpdateRow *row, const char *reason)
{
        ald_state_manager_refuse(manager, row->node, row->kind, row->field, reason);
        return false;
}

static bool merge_row(AldStateManager *manager, const AldUpdateRow *row)
{
        /* If there is a field, these errors are about its value. */
        if (row->refusal == -ENOENT && !row->field)
                return refuse_row(manager, row, "unknown kind");
        if (row->refusal == -EINVAL && !row->field)
                return refuse_row(manager, row, "invalid node id");
        if (row->refusal < 0)
                return refuse_row(manager, row, ald_record_describe(row->refusal));
        if (ald_kinds[row->update.kind].local)
                return refuse_row(manager, row, "records of this kind are not sent between nodes");
        return ald_state_manager_put(manager, &row->update);
}

/* Rows that were read but not merged yet. The memory that their merges need is fetched while further rows are
 * read, one step for each row, and a row is merged after all steps. With more rows at once, it would leave
 * the caches before they are merged. */
typedef struct Pipeline {
        AldStateManager *manager;
        AldUpdateRow rows[ALD_STORE_FETCH_N + 1];
        size_t n_read, n_merged;
        uint64_t accepted, refused;
} Pipeline;

static void pipeline_clear(Pipeline *pipeline)
{
        for (size_t i = 0; i < G_N_ELEMENTS(pipeline->rows); i++)
                ald_update_row_clear(&pipeline->rows[i]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Pipeline, pipeline_clear)

static AldUpdateRow *nth_row(Pipeline *pipeline, size_t n)
{
        return &pipeline->rows[n % G_N_ELEMENTS(pipeline->rows)];
}

static void merge_next(Pipeline *pipeline)
{
        if (merge_row(pipeline->manager, nth_row(pipeline, pipeline->n_merged++)))
                pipeline->accepted++;
        else
                pipeline->refused++;
}

/* Takes the next step for each row. */
static void prefetch(Pipeline *pipeline)
{
        AldStore *store = ald_state_manager_store(pipeline->manager);

        for (AldStoreFetch step = 0; step < MIN(ALD_STORE_FETCH_N, pipeline->n_read); step++) {
                const AldUpdateRow *row = nth_row(pipeline, pipeline->n_read - 1 - step);

                if (row->refusal == 0)
                        ald_store_fetch(store, &row->update, step);
        }
}

static int read_rows(sd_bus_message *message, Pipeline *pipeline)
{
        int r;

        while ((r = ald_update_bus_read(message, nth_row(pipeline, pipeline->n_read))) > 0) {
                pipeline->n_read++;
                prefetch(pipeline);
                if (pipeline->n_read - pipeline->n_merged == G_N_ELEMENTS(pipeline->rows))
                        merge_next(pipeline);
        }
        while (pipeline->n_merged < pipeline->n_read)
                merge_next(pipeline);
        return r;
}

int ald_put_bus_read(
        sd_bus_message *message, AldStateManager *manager, uint64_t *ret_accepted, uint64_t *ret_refused)
{
        g_auto(Pipeline) pipeline = { .manager = manager };
        int r;

        r = sd_bus_message_enter_container(message, 'a', ALD_UPDATE_SIGNATURE);
        if (r < 0)
                return r;
        r = read_rows(message, &pipeline);
        /* sd-bus cannot continue after such a string, so this is the last record of its message. */
        if (r == -EBADMSG)
                refuse_row(manager, nth_row(&pipeline, pipeline.n_read), "a string contains a noncharacter");
        if (r < 0)
                return r;
        *ret_accepted = pipeline.accepted;
        *ret_refused = pipeline.refused;
        return 0;
}

int ald_put_bus_read_presences(
        sd_bus_message *message, AldStateManager *manager, uint64_t *ret_accepted, uint64_t *ret_refused)
{
        g_autoptr(GArray) puts = g_array_new(FALSE, FALSE, sizeof(AldPresencePut));
        AldPresencePut put;
        int r;

        r = sd_bus_message_enter_container(message, 'a', "(" ALD_PRESENCE_SIGNATURE ")");
        if (r < 0)
                return r;
        while ((r = sd_bus_message_read(message, "(" ALD_PRESENCE_SIGNATURE ")", &put.node, &put.state,
                        &put.since_usec, &put.clock_offset_usec, &put.announced, &put.epoch)) > 0)
                g_array_append_val(puts, put);
        if (r < 0)
                return r;
        *ret_accepted = ald_presences_put(manager, (const AldPresencePut *) (void *) puts->data, puts->len);
        *ret_refused = puts->len - *ret_accepted;
        return 0;
}
