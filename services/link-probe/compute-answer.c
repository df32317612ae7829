/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "record/json.h"
#include "services/link-probe/compute-answer.h"
#include "services/link-probe/probe-line.h"

#define OUTPUT_MAX (64u * 1024)
#define TEXT_MAX 256u
#define WORDS_MAX 32u
#define BUSY "busy: something else was at work"

static const char *const metric_names[ALD_COMPUTE_METRICS] = { "gemm", "read", "copy", "peak" };
static const char *const metric_fields[ALD_COMPUTE_METRICS] = { "GemmTflops", "MemoryBandwidthBytesPerSecond",
        "CopyBandwidthBytesPerSecond", "PeakTflops" };

unsigned ald_compute_metric_parse(const char *name)
{
        for (unsigned i = 0; i < ALD_COMPUTE_METRICS; i++)
                if (g_strcmp0(name, metric_names[i]) == 0)
                        return 1u << i;
        return 0;
}

char *ald_compute_metrics_format(unsigned metrics)
{
        GString *text = g_string_new(NULL);

        for (unsigned i = 0; i < ALD_COMPUTE_METRICS; i++)
                if (metrics & 1u << i)
                        g_string_append_printf(text, "%s%s", text->len > 0 ? "," : "", metric_names[i]);
        return g_string_free(text, FALSE);
}

static bool is_readable(const json_t *value)
{
        return ald_probe_line_is_readable(json_string_value(value), TEXT_MAX);
}

static bool are_words(const json_t *list)
{
        const json_t *word;
        size_t i;

        json_array_foreach(list, i, word)
                if (!is_readable(word))
                        return false;
        return json_array_size(list) > 0 && json_array_size(list) <= WORDS_MAX;
}

static bool is_plain(const AldField *field, const json_t *value)
{
        if (!field)
                return is_readable(value);
        switch (field->type) {
        case ALD_TYPE_STRING:
                return is_readable(value);
        case ALD_TYPE_STRV:
                return are_words(value);
        case ALD_TYPE_UINT64:
                return json_is_integer(value) && json_integer_value(value) > 0 &&
                       json_integer_value(value) <= ALD_INTEGER_MAX;
        case ALD_TYPE_DOUBLE:
                return json_is_number(value) && isfinite(json_number_value(value)) &&
                       json_number_value(value) >= 0;
        default:
                return false;
        }
}

/* Leaves the fields of a row that can be, and the name. What says when and why is for the caller. */
static void keep_plain(json_t *row)
{
        static const char *const ours[] = { "Failure", "FailedUSec", "Failures", "WaitingSinceUSec",
                "WaitingReason", NULL };
        const char *name;
        json_t *value;
        void *next;

        json_object_foreach_safe(row, next, name, value)
        {
                const AldField *field = ald_struct_find(&ald_compute_device_struct, name);

                if ((!field && !g_str_equal(name, "Name")) || !is_plain(field, value) ||
                        g_strv_contains(ours, name))
                        json_object_del(row, name);
        }
}

static bool has_flag(const json_t *row, const char *flag)
{
        const json_t *word;
        size_t i;

        json_array_foreach(json_object_get(row, "Flags"), i, word)
                if (g_strcmp0(json_string_value(word), flag) == 0)
                        return true;
        return false;
}

/* The error of a metric, and in words; "gemm: it crashed". */
static void add_error(GString *words, const char *metric, const json_t *error)
{
        const json_t *message = json_object_get(error, "message"), *kind = json_object_get(error, "error");

        if (words->len < TEXT_MAX)
                g_string_append_printf(words, "%s%s: %s", words->len > 0 ? "; " : "", metric,
                        is_readable(message) ? json_string_value(message)
                        : is_readable(kind)  ? json_string_value(kind)
                                             : "failed");
}

/* What failed of the metrics, in their order; NULL: nothing. A device at work fails them all. */
static char *describe_errors(const json_t *errors)
{
        GString *words = g_string_new(NULL);

        for (unsigned i = 0; i < ALD_COMPUTE_METRICS; i++) {
                const json_t *error = json_object_get(errors, metric_names[i]);

                if (g_strcmp0(json_string_value(json_object_get(error, "error")), "busy") == 0) {
                        g_string_free(words, TRUE);
                        return g_strdup(BUSY);
                }
                if (error)
                        add_error(words, metric_names[i], error);
        }
        return g_string_free(words, words->len == 0);
}

static bool has_figures(const json_t *row)
{
        for (unsigned i = 0; i < ALD_COMPUTE_METRICS; i++)
                if (json_object_get(row, metric_fields[i]))
                        return true;
        return false;
}

static void fail(AldProbeAnswer *ret, const char *reason)
{
        ret->verdict = ALD_PROBE_FAILED;
        ret->reason = g_strdup(reason);
}

/* Takes the reference of the row. */
static void take_row(json_t *row, const char *device, bool force, AldProbeAnswer *ret)
{
        json_t *errors = json_incref(json_object_get(row, "Errors"));
        g_autofree char *failed = describe_errors(errors);

        json_decref(errors);
        keep_plain(row);
        json_object_set_new(row, "Id", json_string(device));
        if (has_flag(row, "busy") && !force)
                fail(ret, BUSY);
        else if (!has_figures(row) || g_strcmp0(failed, BUSY) == 0)
                fail(ret, failed ?: "the probe gave no figures");
        else
                ret->json = json_incref(row);
        if (ret->json && failed)
                json_object_set_new(row, "Failure", json_string(failed));
        json_decref(row);
}

/* Another run of the program, or a lock of its own, is in the way of all: nothing was tried. */
static void take_error(const json_t *json, AldProbeAnswer *ret)
{
        const char *kind = json_string_value(json_object_get(json, "error"));
        const json_t *message = json_object_get(json, "message");

        fail(ret, is_readable(message) ? json_string_value(message) : "the probe did not say why it failed");
        if (g_strcmp0(kind, "busy") == 0 || g_strcmp0(kind, "inhibited") == 0)
                ret->verdict = ALD_PROBE_LATER;
}

bool ald_compute_answer_is_busy(const char *reason)
{
        return g_strcmp0(reason, BUSY) == 0;
}

void ald_compute_answer_read(
        const char *output, const char *failure, const char *device, bool force, AldProbeAnswer *ret)
{
        json_t *json = failure ? NULL : ald_probe_line_load_last(output, OUTPUT_MAX);
        json_t *first = json_array_get(json_object_get(json, "Devices"), 0);

        *ret = (AldProbeAnswer){ .verdict = ALD_PROBE_DONE };
        if (failure) {
                ret->verdict = ALD_PROBE_FAILED;
                ret->reason = g_strdup_printf("the probe %s", failure);
        } else if (!json) {
                fail(ret, "the probe gave no result");
        } else if (json_object_get(json, "error")) {
                take_error(json, ret);
        } else {
                take_row(json_incref(json_is_object(first) ? first : json), device, force, ret);
        }
        json_decref(json);
}

int ald_compute_answer_record(
        const AldProbeAnswer *answer, const char *driver_version, uint64_t realtime_usec, AldRecord **ret)
{
        json_t *row = json_copy(answer->json), *record = json_pack("{s:[o]}", "Devices", row);
        int r;

        json_object_set_new(row, "MeasuredUSec", json_integer((json_int_t) realtime_usec));
        if (json_object_get(row, "Failure"))
                json_object_set_new(row, "FailedUSec", json_integer((json_int_t) realtime_usec));
        json_object_del(row, "DriverVersion");
        if (driver_version)
                json_object_set_new(row, "DriverVersion", json_string(driver_version));
        r = ald_record_from_json(ALD_KIND_COMPUTE, record, ret, NULL);
        json_decref(record);
        return r < 0 ? -EBADMSG : 0;
}

/* Where each phase begins, of one metric, as its share of the time. */
static const struct {
        const char *name;
        double from, to;
} phases[] = { { "build", 0, 0.1 }, { "trial", 0.1, 0.3 }, { "settle", 0.3, 0.5 }, { "measure", 0.5, 1 } };

static double share_of_metric(const char *phase, double fraction)
{
        for (size_t i = 0; i < G_N_ELEMENTS(phases); i++)
                if (g_str_equal(phase, phases[i].name))
                        return phases[i].from + CLAMP(fraction, 0, 1) * (phases[i].to - phases[i].from);
        return 0;
}

int ald_compute_progress_read(const char *line, unsigned metrics, char **ret_phase, double *ret_fraction)
{
        json_t *json = ald_probe_line_load(line, OUTPUT_MAX);
        const json_t *metric = json_object_get(json, "metric"), *phase = json_object_get(json, "phase");
        const json_t *fraction = json_object_get(json, "fraction");
        unsigned bit = ald_compute_metric_parse(json_string_value(metric));
        int r = -EBADMSG;

        if (bit & metrics && is_readable(phase) && json_is_number(fraction)) {
                double before = (double) __builtin_popcount(metrics & (bit - 1));
                double share = share_of_metric(json_string_value(phase), json_number_value(fraction));

                *ret_phase = g_strdup_printf("%s %s", json_string_value(metric), json_string_value(phase));
                *ret_fraction = (before + share) / __builtin_popcount(metrics);
                r = 0;
        }
        json_decref(json);
        return r;
}
