/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/common/format.h"
#include "clients/common/probes/job-words.h"
#include "clients/common/probes/probe-words.h"
#include "record/translate.h"
#include "state/link/link-quality.h"

/* Uses Result instead of Paths, since a service may report no paths. */
static GPtrArray *link_facts(const AldProbeWords *words, const char *subject, json_t *job)
{
        GPtrArray *rows = g_ptr_array_new_with_free_func((GDestroyNotify) g_ptr_array_unref);
        const json_t *result = json_object_get(job, "Result");
        json_auto_t *row = json_is_object(result) ? json_copy((json_t *) result) : json_object();
        g_auto(AldProbedPath) path = {};

        json_object_set(row, "Address", json_object_get(job, "Address"));
        ald_probed_path_read(&path, words->result, row);
        g_ptr_array_add(rows, ald_probed_path_facts(&path, subject));
        return rows;
}

/* The best path */

static char *describe_path(const AldProbedPath *path)
{
        const AldSocketResult *figures = &path->figures;
        GString *parts = g_string_new(NULL);

        /* Translators: a rate in the direction away from the first machine, and one towards it. */
        ald_parts_add(parts, _("%s up"),
                ald_format_bits_per_second(ald_uint64_to_double(figures->upload.bits_per_second)));
        ald_parts_add(parts, _("%s down"),
                ald_format_bits_per_second(ald_uint64_to_double(figures->download.bits_per_second)));
        ald_parts_add(parts, _("RTT/2 %s"), ald_format_nsec(ald_uint64_to_double(figures->rtt_p50_nsec) / 2));
        return g_string_free(parts, FALSE);
}

/* Adds why the figures are not to be relied on, if that is so. */
static void add_reservations(GString *parts, const AldSocketResult *figures)
{
        if (ald_link_has_flag(figures->flags, ALD_LINK_DISTURBED))
                ald_parts_add(parts, "%s", g_strdup(_("disturbed by other traffic")));
        if (ald_link_has_flag(figures->flags, ALD_LINK_UNSTEADY))
                ald_parts_add(parts, "%s", g_strdup(_("unsteady")));
        if (ald_link_has_flag(figures->flags, ALD_LINK_SUSPECT))
                ald_parts_add(parts, "%s", g_strdup(_("suspect")));
}

static double rate_of(const AldProbedPath *path)
{
        double up = ald_uint64_to_double(path->figures.upload.bits_per_second),
               down = ald_uint64_to_double(path->figures.download.bits_per_second);

        return (isnan(up) ? 0 : up) + (isnan(down) ? 0 : down);
}

/* Compares the rates, or the round trips if neither path has rates. */
static bool is_better(const AldProbedPath *path, const AldProbedPath *than)
{
        double rate = rate_of(path), other = rate_of(than);

        return rate != other ? rate > other : path->figures.rtt_p50_nsec < than->figures.rtt_p50_nsec;
}

typedef struct BestPath {
        AldProbedPath path;
        unsigned n_measured, n_failed;
        char *reason; /* safe text: why the first failed path was not measured */
} BestPath;

static void best_path_clear(BestPath *best)
{
        ald_probed_path_clear(&best->path);
        g_free(best->reason);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BestPath, best_path_clear)

static void consider_path(BestPath *best, AldKind kind, json_t *row)
{
        AldProbedPath path, before = best->path;

        ald_probed_path_read(&path, kind, row);
        if (path.row.error || !path.result) {
                best->n_failed++;
                if (!best->reason)
                        best->reason = ald_job_reason(path.row.error);
        } else if (best->n_measured++ == 0 || is_better(&path, &best->path)) {
                best->path = path;
                path = before;
        }
        ald_probed_path_clear(&path);
}

static char *link_outcome(const AldProbeWords *words, const char *subject, json_t *job)
{
        json_t *paths = json_object_get(job, "Paths"), *result = json_object_get(job, "Result"), *row;
        g_auto(BestPath) best = {};
        g_autofree char *figures = NULL, *ends = NULL;
        GString *text;
        size_t i;

        json_array_foreach(paths, i, row)
                consider_path(&best, words->result, row);
        if (best.n_measured + best.n_failed == 0 && json_is_object(result))
                consider_path(&best, words->result, result); /* the service reports no paths */
        figures = best.n_measured > 0 ? describe_path(&best.path) : NULL;
        if (!figures || !*figures)
                return best.reason ? g_strdup_printf(_("Cannot measure %s: %s"), subject, best.reason) : NULL;
        text = g_string_new(NULL);
        g_string_append_printf(text, "%s: %s", subject, figures);
        if (best.n_measured > 1) {
                ends = ald_probed_path_ends(&best.path);
                g_string_append_c(text, ' ');
                g_string_append_printf(text, _("over %s, the best of %u paths"), ends, best.n_measured);
        }
        add_reservations(text, &best.path.figures);
        if (best.n_failed > 0) {
                g_string_append(text, "; ");
                g_string_append_printf(text,
                        ngettext("%u path was not measured: %s", "%u paths were not measured: %s",
                                best.n_failed),
                        best.n_failed, best.reason);
        }
        return g_string_free(text, FALSE);
}

static const char *const options[] = { "path", "rtt-only", NULL };
static const char *const locks[] = { "link", NULL };

const AldProbeWords ald_probe_words_socket = { .method = "ProbeLink",
        .options = options,
        .locks = locks,
        .title = "%s",
        .result = ALD_KIND_SOCKET_RESULT,
        .facts = link_facts,
        .outcome = link_outcome };

const AldProbeWords ald_probe_words_rtt = { .method = "ProbeLink",
        .flag = "RttOnly",
        .options = options,
        .locks = locks,
        .title = N_("%s, round trips"),
        .result = ALD_KIND_SOCKET_RESULT,
        .facts = link_facts,
        .outcome = link_outcome };

static const char *const rdma_options[] = { "port", "peer-port", NULL };
/* A lock on links applies to all kinds of links. */
static const char *const rdma_locks[] = { "link", "rdma", NULL };

const AldProbeWords ald_probe_words_rdma = { .method = "ProbeRdma",
        .options = rdma_options,
        .locks = rdma_locks,
        .title = N_("%s over RDMA"),
        .result = ALD_KIND_RDMA_RESULT,
        .facts = link_facts,
        .outcome = link_outcome };
