/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "clients/common/columns/node-facts.h"
#include "clients/common/format.h"
#include "clients/common/job-words.h"
#include "clients/common/safe-text.h"
#include "clients/desktop/actions/job-outcome.h"
#include "record/json.h"
#include "state/link-quality.h"

/* Takes the part, which is safe text; the pattern has its place. */
static void add_part(GString *parts, const char *pattern, char *part)
{
        if (part && *part && strcmp(part, ALD_ABSENT_TEXT) != 0) {
                g_string_append(parts, parts->len > 0 ? ", " : "");
                g_string_append_printf(parts, pattern, part);
        }
        g_free(part);
}

/* Links. */

static char *describe_path(const AldProbedPath *path)
{
        const AldSocketResult *figures = &path->figures;
        GString *parts = g_string_new(NULL);

        /* Translators: a rate in the direction away from the first machine, and one towards it. */
        add_part(parts, _("%s up"), ald_format_bits_per_second(ald_figure(figures->upload.bits_per_second)));
        add_part(parts, _("%s down"),
                ald_format_bits_per_second(ald_figure(figures->download.bits_per_second)));
        add_part(parts, _("RTT/2 %s"), ald_format_nsec(ald_figure(figures->rtt_p50_nsec) / 2));
        return g_string_free(parts, FALSE);
}

/* Why the figures are not to be relied on, if that is so. */
static void add_reservations(GString *parts, const AldSocketResult *figures)
{
        if (ald_link_has_flag(figures->flags, ALD_LINK_DISTURBED))
                add_part(parts, "%s", g_strdup(_("disturbed by other traffic")));
        if (ald_link_has_flag(figures->flags, ALD_LINK_UNSTEADY))
                add_part(parts, "%s", g_strdup(_("unsteady")));
        if (ald_link_has_flag(figures->flags, ALD_LINK_SUSPECT))
                add_part(parts, "%s", g_strdup(_("suspect")));
}

static double rate_of(const AldProbedPath *path)
{
        double up = ald_figure(path->figures.upload.bits_per_second),
               down = ald_figure(path->figures.download.bits_per_second);

        return (isnan(up) ? 0 : up) + (isnan(down) ? 0 : down);
}

/* By its rates, or by the round trip if neither has any. */
static bool is_better(const AldProbedPath *path, const AldProbedPath *than)
{
        double rate = rate_of(path), other = rate_of(than);

        return rate != other ? rate > other : path->figures.rtt_p50_nsec < than->figures.rtt_p50_nsec;
}

typedef struct BestPath {
        AldProbedPath path;
        unsigned n_measured, n_failed;
        char *reason; /* safe text: why one was not measured */
} BestPath;

static void best_path_clear(BestPath *best)
{
        ald_probed_path_clear(&best->path);
        g_free(best->reason);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BestPath, best_path_clear)

static void consider(BestPath *best, AldKind kind, json_t *row)
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

/* For a service that reports no paths. */
static void consider_result(BestPath *best, AldKind kind, json_t *json)
{
        json_t *result = json_object_get(json, "Result");

        if (json_is_object(result))
                consider(best, kind, result);
}

static char *describe_link(const char *subject, AldKind kind, json_t *json)
{
        json_t *paths = json_object_get(json, "Paths"), *row;
        g_auto(BestPath) best = {};
        g_autofree char *figures = NULL, *ends = NULL;
        GString *text = g_string_new(NULL);
        size_t i;

        json_array_foreach(paths, i, row)
                consider(&best, kind, row);
        if (best.n_measured + best.n_failed == 0)
                consider_result(&best, kind, json);
        figures = best.n_measured > 0 ? describe_path(&best.path) : NULL;
        if (!figures || !*figures) {
                g_string_append_printf(text, _("Cannot measure %s: %s"), subject,
                        best.reason ?: _("the result has no figures"));
                return g_string_free(text, FALSE);
        }
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

/* Devices. */

static const char *error_of(const AldComputeResult *result, const char *device)
{
        for (size_t i = 0; i < result->errors.n; i++) {
                const AldComputeError *error = ald_rows_at(&result->errors, i);

                if (g_strcmp0(error->device, device) == 0)
                        return error->message ?: error->error;
        }
        return NULL;
}

/* "cpu: 0.52 TFLOPS FP16, 21 GB/s memory bandwidth" */
static char *describe_figures(const AldComputeResult *result, const AldComputeFigures *figures)
{
        AldComputeDevice device = ALD_COMPUTE_DEVICE_INIT;
        g_autofree char *name = ald_text_safe(figures->name ?: figures->id ?: ALD_ABSENT_TEXT);
        g_autofree char *glance = NULL, *reason = NULL;

        ald_struct_copy_common(&ald_compute_device_struct, &device, &ald_compute_figures_struct, figures);
        glance = ald_compute_glance(&device);
        if (*glance)
                return g_strdup_printf("%s: %s", name, glance);
        reason = ald_job_reason(error_of(result, figures->id));
        return g_strdup_printf(_("Cannot measure %s: %s"), name, reason);
}

static char *describe_all_devices(const char *subject, json_t *json)
{
        json_t *result = json_object_get(json, "Result");
        g_autoptr(AldRecord) record = NULL;
        const AldComputeResult *found;
        GString *text = g_string_new(NULL);

        if (json_is_object(result) &&
                ald_record_from_json(ALD_KIND_COMPUTE_RESULT, result, &record, NULL) >= 0) {
                found = ald_record_as(record, COMPUTE_RESULT, AldComputeResult);
                for (size_t i = 0; i < found->devices.n; i++) {
                        g_autofree char *device = describe_figures(found, ald_rows_at(&found->devices, i));

                        g_string_append_printf(text, "%s%s", i > 0 ? "; " : "", device);
                }
        }
        if (text->len == 0)
                g_string_append_printf(
                        text, _("Cannot measure %s: %s"), subject, _("the result has no figures"));
        return g_string_free(text, FALSE);
}

char *ald_job_outcome(const AldProbeWords *words, const char *subject, const AldProbeJob *job, json_t *json)
{
        g_autofree char *reason = NULL;

        switch ((AldProbeJobState) ald_probe_job_state_from_string(job->state ?: "")) {
        case ALD_PROBE_JOB_STATE_DONE:
                return words->all ? describe_all_devices(subject, json)
                                  : describe_link(subject, words->result, json);
        case ALD_PROBE_JOB_STATE_FAILED:
                reason = ald_job_reason(job->error);
                return g_strdup_printf(_("Cannot measure %s: %s"), subject, reason);
        default:
                return g_strdup_printf(_("The measurement of %s was canceled"), subject);
        }
}
