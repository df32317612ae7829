/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/link-probe/schedule/disturbed-results.h"
#include "record/figure-text.h"
#include "services/link-probe/link/link-validation.h"
#include "state/link/link-quality.h"

struct AldDisturbedResults {
        GHashTable *since; /* path → uint64_t, µs */
};

AldDisturbedResults *ald_disturbed_results_new(void)
{
        AldDisturbedResults *disturbed = g_new(AldDisturbedResults, 1);

        disturbed->since = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        return disturbed;
}

void ald_disturbed_results_free(AldDisturbedResults *disturbed)
{
        if (!disturbed)
                return;
        g_hash_table_unref(disturbed->since);
        g_free(disturbed);
}

/* Returns whether a path is no longer tried, such as one to a node that is gone. */
static gboolean is_outdated(gpointer path, gpointer since, gpointer now)
{
        return *(uint64_t *) since + 2 * ALD_DISTURBED_MAX_USEC <= *(uint64_t *) now;
}

/* Returns since when every measurement of the path has been disturbed. Beyond the maximum number of paths,
 * each disturbance counts as the first. */
static uint64_t disturbed_since(AldDisturbedResults *disturbed, const char *path, uint64_t now)
{
        const uint64_t *since = g_hash_table_lookup(disturbed->since, path);

        if (since)
                return *since;
        g_hash_table_foreach_remove(disturbed->since, is_outdated, &now);
        if (g_hash_table_size(disturbed->since) < ALD_DISTURBED_RESULTS_MAX)
                g_hash_table_insert(disturbed->since, g_strdup(path), g_memdup2(&now, sizeof now));
        return now;
}

bool ald_disturbed_results_defer(AldDisturbedResults *disturbed, const char *path,
        const AldProbeAnswer *answer, uint64_t now, AldProbeAnswer *ret)
{
        g_autofree char *rate = NULL;
        AldLinkSocket figures;
        uint64_t other;

        if (answer->verdict != ALD_PROBE_DONE || answer->result->kind != ALD_KIND_SOCKET_RESULT ||
                ald_result_is_check(answer->result))
                return false;
        figures = ald_result_link(answer->result);
        other = ald_link_disturbance(&figures);
        if (other == ALD_ABSENT_UINT64 ||
                now >= disturbed_since(disturbed, path, now) + ALD_DISTURBED_MAX_USEC) {
                g_hash_table_remove(disturbed->since, path);
                return false;
        }
        rate = ald_format_figure(&ald_unit_bits_per_second, (double) other);
        *ret = (AldProbeAnswer){
                .verdict = ALD_PROBE_LATER,
                .word = g_strdup(ALD_LINK_DISTURBED),
                .reason = g_strdup_printf("other traffic of %s disturbed the measurement", rate),
        };
        return true;
}
