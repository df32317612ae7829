/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/docs.h"
#include "services/history/recorder.h"
#include "services/history/store/sample.h"

/* These fields are measured more often than the rest of a link. */
static const char *const rtt_fields[] = { "RttMinNSec", "RttP50NSec", "RttP99NSec", "JitterNSec", NULL };

/* The last record of a node or link. */
typedef struct AldTrack {
        AldId node;
        AldKind kind;
        char *key;
        AldRecord *record;
        int64_t resent; /* when all its numbers last had a sample */
} AldTrack;

struct AldRecorder {
        AldHistory *history;
        GHashTable *tracks; /* set of AldTrack */
};

/* The comparison of a record with the previous one. */
typedef struct AldRecordWalk {
        AldHistory *history;
        AldSeriesName name;
        int64_t time, now;
        bool all;
} AldRecordWalk;

/* The fields that contain when the numbers of a struct were measured; NULL if there is none. */
typedef struct AldMeasuredFields {
        const AldField *measured, *rtt_measured;
} AldMeasuredFields;

static guint hash_track(gconstpointer data)
{
        const AldTrack *track = data;
        uint64_t hash = ald_hash_bytes(ALD_HASH_BASIS, &track->node, sizeof track->node);

        return (guint) (ald_hash_text(hash, track->key) + track->kind);
}

static gboolean is_same_track(gconstpointer a, gconstpointer b)
{
        const AldTrack *one = a, *other = b;

        return one->kind == other->kind && ald_id_equal(&one->node, &other->node) &&
               strcmp(one->key, other->key) == 0;
}

static void track_free(gpointer data)
{
        AldTrack *track = data;

        g_free(track->key);
        g_clear_pointer(&track->record, ald_record_unref);
        g_free(track);
}

AldRecorder *ald_recorder_new(AldHistory *history)
{
        AldRecorder *recorder = g_new0(AldRecorder, 1);

        recorder->history = history;
        recorder->tracks = g_hash_table_new_full(hash_track, is_same_track, track_free, NULL);
        return recorder;
}

void ald_recorder_free(AldRecorder *recorder)
{
        if (!recorder)
                return;
        g_hash_table_unref(recorder->tracks);
        g_free(recorder);
}

bool ald_recorder_is_field(AldKind kind, const char *field)
{
        const char *open = strchr(field, '['), *close = open ? strrchr(open, ']') : NULL;
        g_autofree char *name = g_strndup(field, open ? (gsize) (open - field) : strlen(field));
        const AldStruct *type = ald_kinds[kind].type;
        const AldField *found = ald_struct_find(type, name);

        if (found && open && close > open + 1 && close[1] == '.' && found->type == ALD_TYPE_ROWS) {
                type = found->rows;
                found = ald_struct_find(type, close + 2);
        } else if (open)
                return false;
        return found && ald_docs_is_series(type, found);
}

/* Returns NaN if the field is absent. */
static double number_of(const AldField *field, const void *fields)
{
        const void *value = fields ? ald_field_of(field, fields) : NULL;

        if (!value || ald_field_is_absent(field, value))
                return NAN;
        switch (field->type) {
        case ALD_TYPE_UINT64:
                return (double) *(const uint64_t *) value;
        case ALD_TYPE_INT64:
                return (double) *(const int64_t *) value;
        case ALD_TYPE_DOUBLE:
                return *(const double *) value;
        case ALD_TYPE_BOOLEAN:
                return *(const int *) value;
        default:
                return NAN;
        }
}

static double precision_of(const AldField *field, double number)
{
        const double threshold = field->relative ? fabs(number) * field->threshold : field->threshold;

        return (field->threshold_max > 0 ? fmin(threshold, field->threshold_max) : threshold) / 4;
}

static bool is_change(const AldField *field, double before, double number)
{
        return isnan(before) || isnan(number) ||
               ald_sample_round(before, precision_of(field, before)) !=
                       ald_sample_round(number, precision_of(field, number));
}

/* Returns when a number was measured; INT64_MIN if it is not measured by probes, or the time is unknown. */
static int64_t measured_at(const AldMeasuredFields *measured, const AldField *field, const void *fields)
{
        const AldField *when = measured->rtt_measured && g_strv_contains(rtt_fields, field->name)
                                       ? measured->rtt_measured
                                       : measured->measured;
        const uint64_t *usec = when && fields ? ald_field_of(when, fields) : NULL;

        return usec && *usec != ALD_ABSENT_UINT64 ? (int64_t) *usec : INT64_MIN;
}

/* Stores a sample. One that is too old, or whose name is too long, is dropped. */
static void put_sample(
        const AldRecordWalk *walk, const AldField *field, const char *prefix, int64_t time, double number)
{
        g_autofree char *name = *prefix ? g_strconcat(prefix, ".", field->name, NULL) : g_strdup(field->name);
        AldSeriesName series = walk->name;

        series.field = name;
        (void) ald_history_put(walk->history, &series, time, number, precision_of(field, number), walk->now);
}

static void record_number(const AldRecordWalk *walk, const AldMeasuredFields *measured, const AldField *field,
        const char *prefix, const void *fields, const void *last)
{
        const double number = number_of(field, fields), before = number_of(field, last);
        const int64_t time = measured_at(measured, field, fields);

        if (isnan(number)) {
                if (!isnan(before))
                        put_sample(walk, field, prefix, walk->time, NAN);
                return;
        }
        if (time != INT64_MIN) {
                if (isnan(before) || time != measured_at(measured, field, last))
                        put_sample(walk, field, prefix, time, number);
                return;
        }
        if (walk->all || is_change(field, before, number))
                put_sample(walk, field, prefix, walk->time, number);
}

static void record_numbers(const AldRecordWalk *walk, const AldStruct *type, const char *prefix,
        const void *fields, const void *last)
{
        const AldMeasuredFields measured = { ald_struct_find(type, "MeasuredUSec"),
                ald_struct_find(type, "RttMeasuredUSec") };

        for (size_t i = 0; i < type->n_fields; i++)
                if (ald_docs_is_series(type, &type->fields[i]))
                        record_number(walk, &measured, &type->fields[i], prefix, fields, last);
}

static const char *id_of(const AldRows *rows, const void *row)
{
        return *(const char *const *) ald_field_of(&rows->type->fields[0], row);
}

/* Records the numbers of all rows, and gaps for rows that have disappeared. */
static void record_rows(
        const AldRecordWalk *walk, const AldField *field, const AldRows *rows, const AldRows *last)
{
        for (size_t i = 0; rows && i < rows->n; i++) {
                const void *row = ald_rows_at(rows, i);
                g_autofree char *prefix = g_strdup_printf("%s[%s]", field->name, id_of(rows, row));

                record_numbers(
                        walk, rows->type, prefix, row, last ? ald_rows_find(last, id_of(rows, row)) : NULL);
        }
        for (size_t i = 0; last && i < last->n; i++) {
                const void *row = ald_rows_at(last, i);
                g_autofree char *prefix = NULL;

                if (rows && ald_rows_find(rows, id_of(last, row)))
                        continue;
                prefix = g_strdup_printf("%s[%s]", field->name, id_of(last, row));
                record_numbers(walk, last->type, prefix, NULL, row);
        }
}

/* Records the numbers of a record; either record may be NULL. */
static void record_all(
        const AldRecordWalk *walk, AldKind kind, const AldRecord *record, const AldRecord *last)
{
        const AldStruct *type = ald_kinds[kind].type;
        const void *fields = record ? ald_record_fields(record) : NULL;
        const void *before = last ? ald_record_fields(last) : NULL;

        record_numbers(walk, type, "", fields, before);
        for (size_t i = 0; i < type->n_fields; i++)
                if (type->fields[i].type == ALD_TYPE_ROWS)
                        record_rows(walk, &type->fields[i],
                                fields ? ald_field_of(&type->fields[i], fields) : NULL,
                                before ? ald_field_of(&type->fields[i], before) : NULL);
}

static AldTrack *get_track(AldRecorder *recorder, const AldId *node, AldKind kind, const char *key)
{
        AldTrack wanted = { .node = *node, .kind = kind, .key = (char *) (uintptr_t) key };
        AldTrack *track = g_hash_table_lookup(recorder->tracks, &wanted);

        if (!track) {
                track = g_new0(AldTrack, 1);
                *track = wanted;
                track->key = g_strdup(key);
                g_hash_table_add(recorder->tracks, track);
        }
        return track;
}

static void record_track(
        AldRecorder *recorder, const AldTrack *track, const AldRecord *record, int64_t time, int64_t now)
{
        char id[ALD_ID_STRING_SIZE];
        const AldRecordWalk walk = {
                .history = recorder->history,
                .name = { ald_id_format(&track->node, id), ald_kinds[track->kind].name, track->key, "" },
                .time = time,
                .now = now,
                .all = track->resent == time,
        };

        record_all(&walk, track->kind, record, track->record);
}

void ald_recorder_take(
        AldRecorder *recorder, const AldId *node, const char *key, AldRecord *record, int64_t now)
{
        AldTrack *track = get_track(recorder, node, record->kind, key ? key : "");
        const int64_t time = (int64_t) record->updated_usec;

        /* The clock may have been set back. */
        if (!track->record || llabs(time - track->resent) >= ALD_RECORDER_RESEND_USEC)
                track->resent = time;
        record_track(recorder, track, record, time, now);
        g_clear_pointer(&track->record, ald_record_unref);
        track->record = ald_record_ref(record);
}

void ald_recorder_end(AldRecorder *recorder, const AldId *node, AldKind kind, const char *key, int64_t now)
{
        const AldTrack wanted = { .node = *node, .kind = kind, .key = (char *) (uintptr_t) (key ? key : "") };
        const AldTrack *track = g_hash_table_lookup(recorder->tracks, &wanted);

        if (!track)
                return;
        record_track(recorder, track, NULL, now, now);
        g_hash_table_remove(recorder->tracks, &wanted);
}

void ald_recorder_end_all(AldRecorder *recorder, int64_t now)
{
        GHashTableIter iter;
        const AldTrack *track;

        g_hash_table_iter_init(&iter, recorder->tracks);
        while (g_hash_table_iter_next(&iter, (gpointer *) &track, NULL)) {
                record_track(recorder, track, NULL, now, now);
                g_hash_table_iter_remove(&iter);
        }
}
