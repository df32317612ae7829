/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the history of recorded telemetry takes: bench-history FOLDER NODES HOURS <SAMPLES. Each line of the
 * samples is a time in ms, the name of a series, a value, or - where it is unknown, and its precision. They
 * are played for that many hours and nodes, each node a little later than the one before.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "services/history/store/history-store.h"
#include "services/history/store/packed-rows.h"
#include "services/history/store/sample.h"
#include "services/history/store/tier-table.h"
#include "state/alerts/alerts.h"

#define BUDGET (UINT64_C(64) << 20)
#define BEGIN (INT64_C(1700000000) * 1000000 / ALD_DAY_USEC * ALD_DAY_USEC)
#define LINE_MAX_CHARS 256
#define QUERIES 200u
#define POINTS 500u
#define FLAPS 1000u
#define FLAP_SECONDS 60u

typedef struct RecordedSample {
        int64_t usec;
        unsigned series;
        double value, precision;
} RecordedSample;

typedef struct Recording {
        GPtrArray *names;
        GArray *samples; /* RecordedSample */
        int64_t usec;    /* its length */
} Recording;

static unsigned series_number(Recording *recording, const char *name)
{
        for (guint i = 0; i < recording->names->len; i++)
                if (strcmp(recording->names->pdata[i], name) == 0)
                        return i;
        g_ptr_array_add(recording->names, g_strdup(name));
        return recording->names->len - 1;
}

static void read_recording(Recording *recording)
{
        char line[LINE_MAX_CHARS], name[LINE_MAX_CHARS], value[LINE_MAX_CHARS];

        recording->names = g_ptr_array_new_with_free_func(g_free);
        recording->samples = g_array_new(FALSE, FALSE, sizeof(RecordedSample));
        while (fgets(line, sizeof line, stdin)) {
                RecordedSample sample = { 0 };

                if (sscanf(line, "%" SCNd64 " %s %s %lf", &sample.usec, name, value, &sample.precision) != 4)
                        g_error("Odd line: %s", line);
                sample.usec *= 1000;
                sample.series = series_number(recording, name);
                sample.value = strcmp(value, "-") == 0 ? NAN : g_ascii_strtod(value, NULL);
                g_array_append_val(recording->samples, sample);
                recording->usec = MAX(recording->usec, sample.usec + 1000000);
        }
}

/* The recording as one chunk for each series, if it takes an hour or less. */
static void measure_chunks(const Recording *recording)
{
        uint64_t n_bytes = 0, n_samples = 0;

        for (guint series = 0; series < recording->names->len; series++) {
                g_autoptr(GArray) samples = g_array_new(FALSE, FALSE, sizeof(AldSample));
                g_autoptr(GByteArray) packed = NULL;

                for (guint i = 0; i < recording->samples->len; i++) {
                        const RecordedSample *one = &g_array_index(recording->samples, RecordedSample, i);
                        const AldSample sample = { ald_span_start(BEGIN + one->usec, ALD_SAMPLE_STEP_USEC),
                                ald_sample_round(one->value, one->precision) };

                        if (one->series == series && one->usec < ALD_HOUR_USEC)
                                g_array_append_val(samples, sample);
                }
                if (samples->len == 0)
                        continue;
                ald_samples_settle(samples);
                packed = ald_samples_pack(samples);
                n_bytes += packed->len;
                n_samples += samples->len;
        }
        printf("\"series_per_node\": %u, \"samples_per_node_hour\": %.0f, \"chunk_bytes_per_sample\": %.3f, ",
                recording->names->len, (double) n_samples * (double) ALD_HOUR_USEC / (double) recording->usec,
                (double) n_bytes / (double) n_samples);
}

/* A recording that is played again must not look like itself, or it would compress better than what it stands
 * for. */
static double vary(double value, double mean, double factor)
{
        return value == 0 || isnan(value) ? value : mean + (value - mean) * factor;
}

typedef struct Player {
        const Recording *recording;
        double *means; /* of the series */
        AldHistory *history;
        unsigned n_nodes;
        guint *next;   /* sample of each node */
        int64_t *turn; /* when each node's present turn began */
        double *factor;
        GRand *rand;
} Player;

static void begin_turn(Player *player, unsigned node, int64_t time)
{
        player->turn[node] = time;
        player->next[node] = 0;
        player->factor[node] = 0.8 + 0.4 * g_rand_double(player->rand);
}

static void put(Player *player, unsigned node, const RecordedSample *sample, int64_t time)
{
        char id[33];
        const AldSeriesName name = { id, "Node1", "", player->recording->names->pdata[sample->series] };
        const double value = vary(sample->value, player->means[sample->series], player->factor[node]);

        snprintf(id, sizeof id, "%032x", node);
        if (ald_history_put(player->history, &name, time, value, sample->precision, time) < 0)
                g_error("A sample was refused");
}

/* What all nodes send until then. */
static void play_until(Player *player, int64_t until)
{
        const GArray *samples = player->recording->samples;

        for (unsigned node = 0; node < player->n_nodes; node++)
                for (;;) {
                        const RecordedSample *sample = &g_array_index(
                                samples, RecordedSample, player->next[node]);
                        const int64_t time = player->turn[node] + sample->usec;

                        if (time >= until)
                                break;
                        put(player, node, sample, time);
                        if (++player->next[node] == samples->len)
                                begin_turn(player, node, player->turn[node] + player->recording->usec);
                }
}

static void play(Player *player, int64_t until)
{
        for (int64_t now = BEGIN + ALD_MINUTE_USEC; now <= until; now += ALD_MINUTE_USEC) {
                play_until(player, now);
                if (ald_history_flush(player->history, now) < 0)
                        g_error("The history cannot be written");
        }
}

static uint64_t written_bytes(void)
{
        g_autofree char *text = NULL;
        const char *line;

        if (!g_file_get_contents("/proc/self/io", &text, NULL, NULL) || !(line = strstr(text, "wchar:")))
                g_error("/proc/self/io cannot be read");
        return g_ascii_strtoull(line + strlen("wchar:"), NULL, 10);
}

static double now_msec(clockid_t clock)
{
        struct timespec now;

        clock_gettime(clock, &now);
        return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

static int compare_doubles(const void *a, const void *b)
{
        const double one = *(const double *) a, other = *(const double *) b;

        return (one > other) - (one < other);
}

/* The median over all series of the first node. */
static void measure_queries(Player *player, int64_t until)
{
        double msec[QUERIES];
        uint64_t n_points = 0;

        for (unsigned i = 0; i < QUERIES; i++) {
                const guint series = i % player->recording->names->len;
                const AldSeriesName name = { "00000000000000000000000000000000", "Node1", "",
                        player->recording->names->pdata[series] };
                g_autoptr(GArray) buckets = NULL;
                const double before = now_msec(CLOCK_MONOTONIC);

                if (ald_history_query(
                            player->history, &name, until - 30 * ALD_DAY_USEC, until, POINTS, &buckets) < 0)
                        g_error("A query failed");
                msec[i] = now_msec(CLOCK_MONOTONIC) - before;
                n_points += buckets->len;
        }
        qsort(msec, QUERIES, sizeof *msec, compare_doubles);
        printf("\"query_30d_500_points_ms\": %.3f, \"query_30d_500_points_ms_most\": %.3f, \"points\": "
               "%.0f, ",
                msec[QUERIES / 2], msec[QUERIES - 1], (double) n_points / QUERIES);
}

static void print_bytes(AldDatabase *database, const char *name, const char *sql)
{
        int64_t bytes = 0;

        if (ald_database_integer(database, sql, 0, &bytes) < 0)
                g_error("The history cannot be read");
        printf("\"%s\": %" PRId64 ", ", name, bytes);
}

/* What each tier takes, without what SQLite adds, and the whole file. */
static void measure_tiers(const char *path)
{
        g_autoptr(AldDatabase) database = NULL;
        g_autofree char *reason = NULL;
        AldDatabaseSize size;

        if (ald_database_open(path, &database, &reason) < 0 || ald_database_size(database, &size) < 0)
                g_error("The history cannot be read");
        print_bytes(database, "raw_bytes", "SELECT sum(length(data)) FROM raw");
        print_bytes(database, "minute_bytes", "SELECT sum(length(data)) FROM minutes");
        print_bytes(database, "hour_bytes", "SELECT sum(length(data)) FROM hours");
        printf("\"used_bytes\": %" PRIu64 ", ", size.file - size.unused);
}

static double *means_of(const Recording *recording)
{
        double *sums = g_new0(double, recording->names->len);
        g_autofree unsigned *counts = g_new0(unsigned, recording->names->len);

        for (guint i = 0; i < recording->samples->len; i++) {
                const RecordedSample *sample = &g_array_index(recording->samples, RecordedSample, i);

                if (!isnan(sample->value)) {
                        sums[sample->series] += sample->value;
                        counts[sample->series]++;
                }
        }
        for (guint i = 0; i < recording->names->len; i++)
                sums[i] /= MAX(counts[i], 1);
        return sums;
}

/* Of a finding that comes for a minute and goes for one. */
static unsigned count_notices_of_flaps(void)
{
        g_autoptr(AldAlerts) alerts = ald_alerts_new();
        g_autoptr(GPtrArray) none = g_ptr_array_new(), found = g_ptr_array_new();
        AldFindingRow row = ALD_FINDING_ROW_INIT;
        unsigned n = 0;

        row.id = ald_finding_row_id_to_string(ALD_FINDING_ROW_ID_LINK_UNSTEADY);
        g_ptr_array_add(found, &row);
        for (unsigned second = 0; second < FLAPS * 2 * FLAP_SECONDS; second++) {
                const bool there = second / FLAP_SECONDS % 2 == 0;
                g_autoptr(GArray) notices = ald_alerts_update(
                        alerts, there ? found : none, NULL, (uint64_t) BEGIN + second * UINT64_C(1000000));

                n += notices->len;
        }
        return n;
}

int main(int argc, char *argv[])
{
        Recording recording = { 0 };
        Player player = { .recording = &recording, .rand = g_rand_new_with_seed(18) };
        g_autofree char *path = NULL;
        unsigned hours;
        double before;
        uint64_t written;

        if (argc != 4 || (player.n_nodes = (unsigned) atoi(argv[2])) == 0 ||
                (hours = (unsigned) atoi(argv[3])) == 0)
                g_error("Needs a folder, a number of nodes and a number of hours");
        read_recording(&recording);
        path = g_build_filename(argv[1], "history.sqlite", NULL);
        player.means = means_of(&recording);
        player.history = ald_history_new(path, BUDGET);
        player.next = g_new0(guint, player.n_nodes);
        player.turn = g_new0(int64_t, player.n_nodes);
        player.factor = g_new0(double, player.n_nodes);
        for (unsigned node = 0; node < player.n_nodes; node++)
                begin_turn(&player, node, BEGIN + node * 777 * ALD_SAMPLE_STEP_USEC);
        written = written_bytes();
        before = now_msec(CLOCK_PROCESS_CPUTIME_ID);
        play(&player, BEGIN + hours * ALD_HOUR_USEC);
        printf("{\"nodes\": %u, \"hours\": %u, \"cpu_percent\": %.4f, \"written_kib_per_hour\": %.0f, ",
                player.n_nodes, hours, (now_msec(CLOCK_PROCESS_CPUTIME_ID) - before) / hours / 36000,
                (double) (written_bytes() - written) / 1024 / hours);
        measure_chunks(&recording);
        measure_queries(&player, BEGIN + hours * ALD_HOUR_USEC);
        ald_history_free(player.history);
        measure_tiers(path);
        printf("\"notifications_of_1000_flaps\": %u, ", count_notices_of_flaps());
        printf("\"budget\": %" PRIu64 "}\n", BUDGET);
        return 0;
}
