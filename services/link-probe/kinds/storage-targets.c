/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>

#include "services/common/errors.h"
#include "services/common/sysroot.h"
#include "services/link-probe/kinds/storage-answer.h"
#include "services/link-probe/kinds/storage-targets.h"
#include "services/link-probe/probe/probe-child.h"
#include "state/results/storage-result.h"

#define LIST_DEADLINE_MSEC 60000u
#define LIST_USEC (UINT64_C(3600) * G_USEC_PER_SEC)
#define LIST_AGAIN_USEC (UINT64_C(900) * G_USEC_PER_SEC)
#define STILL_USEC (UINT64_C(60) * G_USEC_PER_SEC)

#define BYTES_PER_MB UINT64_C(1000000)
#define BYTES_MIN UINT64_C(34000000) /* with fewer, the probe does not begin */
#define BYTES_MAX UINT64_C(256000000)
#define BYTES_OPTION "--bytes="

/* The number of sectors that a disk has transferred, and when it last changed; 0: not since this service
 * started. */
typedef struct DiskTraffic {
        uint64_t sectors;
        uint64_t changed_usec;
} DiskTraffic;

struct AldStorageTargets {
        AldService *service;
        AldDeviceSchedule *schedule; /* NULL before the first tick */
        char *program;
        AldProbeChild *child; /* the running probe that lists; NULL if none */
        bool warned;          /* the warning that listing failed was logged */
        bool late;            /* the child has not ended although it was killed */
        AldRecord *list;      /* Message1.StorageResult; NULL if there is none yet */
        uint64_t listed_usec; /* when the last list began; 0: never, or another one is due */
        AldRecord *stored;    /* Node1.Storage of this machine; NULL if unknown */
        char **defaults;      /* paths used without model-paths=; NULL if unknown yet */
        char **listed_paths;  /* paths of the last list */
        GHashTable *disks;    /* name → DiskTraffic */
};

static uint64_t now_usec(void)
{
        return (uint64_t) g_get_monotonic_time();
}

AldStorageTargets *ald_storage_targets_new(const AldDeviceScheduleParts *parts)
{
        AldStorageTargets *targets = g_new0(AldStorageTargets, 1);

        targets->service = parts->service;
        targets->program = ald_program_find(parts->kind->program);
        targets->disks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        return targets;
}

void ald_storage_targets_free(AldStorageTargets *targets)
{
        ald_probe_child_free(targets->child);
        g_clear_pointer(&targets->list, ald_record_unref);
        g_clear_pointer(&targets->stored, ald_record_unref);
        g_strfreev(targets->defaults);
        g_strfreev(targets->listed_paths);
        g_hash_table_unref(targets->disks);
        g_free(targets->program);
        g_free(targets);
}

static const AldStorageResult *result_of_list(const AldStorageTargets *targets)
{
        return ald_record_as(targets->list, STORAGE_RESULT, AldStorageResult);
}

const AldRows *ald_storage_targets_rows(const AldStorageTargets *targets)
{
        return targets->list ? &result_of_list(targets)->file_systems : NULL;
}

const AldStorage *ald_storage_targets_all(const AldStorageTargets *targets)
{
        return ald_record_as(targets->stored, STORAGE, AldStorage);
}

const AldStorageFileSystem *ald_storage_targets_stored(const AldStorageTargets *targets, const char *id)
{
        const AldStorage *storage = ald_storage_targets_all(targets);

        return storage ? ald_rows_find(&storage->file_systems, id) : NULL;
}

/* Reads the sectors that all disks and their partitions have transferred. */
static void read_traffic(AldStorageTargets *targets)
{
        g_autofree char *text = NULL;
        g_auto(GStrv) lines = NULL;

        if (ald_sysroot_read(ald_service_root(targets->service), "proc/diskstats", &text) < 0)
                return;
        lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line; line++) {
                guint64 read, written;
                char name[64];
                DiskTraffic *traffic;

                if (sscanf(*line,
                            " %*u %*u %63s %*u %*u %" G_GUINT64_FORMAT " %*u %*u %*u %" G_GUINT64_FORMAT,
                            name, &read, &written) != 3)
                        continue;
                traffic = g_hash_table_lookup(targets->disks, name);
                if (!traffic) {
                        traffic = g_new0(DiskTraffic, 1);
                        traffic->sectors = read + written;
                        g_hash_table_insert(targets->disks, g_strdup(name), traffic);
                } else if (traffic->sectors != read + written) {
                        traffic->sectors = read + written;
                        traffic->changed_usec = now_usec();
                }
        }
}

static bool is_idle(const AldStorageTargets *targets, const char *disk)
{
        const DiskTraffic *traffic = g_hash_table_lookup(targets->disks, disk);

        return !traffic || traffic->changed_usec == 0 || now_usec() - traffic->changed_usec > STILL_USEC;
}

/* Returns the rotating disks without traffic, which may have stopped, separated by commas. */
static char *list_idle_rotating(const AldStorageTargets *targets)
{
        GString *names = g_string_new(NULL);
        GHashTableIter iter;
        gpointer name;

        g_hash_table_iter_init(&iter, targets->disks);
        while (g_hash_table_iter_next(&iter, &name, NULL)) {
                g_autofree char *path = g_strdup_printf("sys/block/%s/queue/rotational", (const char *) name);
                uint64_t rotational;

                if (is_idle(targets, name) &&
                        ald_sysroot_read_uint64(ald_service_root(targets->service), path, &rotational) >= 0 &&
                        rotational != 0)
                        g_string_append_printf(names, "%s%s", names->len > 0 ? "," : "", (const char *) name);
        }
        return g_string_free(names, FALSE);
}

/* Returns the paths of model-paths=, else the usual places of models. */
static const char *const *choose_paths(const AldStorageTargets *targets, bool *ret_optional)
{
        const AldConfig *config = ald_service_config(targets->service);
        const char *const *named = ald_config_strv(config, "model-paths");

        if (!ald_config_boolean(config, "storage") || ald_config_is_refused(config, "model-paths"))
                return NULL;
        *ret_optional = !named || !*named;
        return *ret_optional ? (const char *const *) targets->defaults : named;
}

static void add_paths(const AldStorageTargets *targets, GPtrArray *arguments)
{
        g_autofree char *still = list_idle_rotating(targets);
        bool optional = false;
        const char *const *paths = choose_paths(targets, &optional);

        if (*still)
                ald_program_add(arguments, "--still=%s", still);
        if (optional)
                ald_program_add(arguments, "--optional");
        ald_program_add(arguments, "--");
        for (; paths && *paths; paths++)
                ald_program_add(arguments, "%s", *paths);
}

/* Stores what a file system holds, and keeps the result of its last attempt. */
static void put_file_system(AldStorageTargets *targets, const AldStorageFigures *found)
{
        AldRowResults *results = ald_device_schedule_results(targets->schedule);
        const AldStorageFileSystem *before = ald_row_results_find(results, found->id);
        AldStorageFileSystem row = ALD_STORAGE_FILE_SYSTEM_INIT;

        if (before)
                row = *before;
        row.id = found->id;
        row.file_system_type = found->file_system_type;
        row.disks = found->disks;
        row.network = found->network;
        row.rotational = found->rotational;
        if (found->model_files != ALD_ABSENT_UINT64) {
                row.model_files = found->model_files;
                row.model_bytes = found->model_bytes;
        }
        ald_row_results_put(results, &row);
}

/* Returns whether to report a file system. One that is asleep is reported only if models were found on it
 * before. */
static bool is_of_interest(const AldStorageTargets *targets, const AldStorageFigures *found)
{
        return found->model_files != ALD_ABSENT_UINT64 || ald_storage_targets_stored(targets, found->id) ||
               ald_row_results_find(ald_device_schedule_results(targets->schedule), found->id);
}

/* Reports that file systems that are no longer listed hold no models. */
static void put_empty(AldStorageTargets *targets, const AldRows *before)
{
        for (size_t i = 0; before && i < before->n; i++) {
                AldStorageFigures row = *(const AldStorageFigures *) ald_rows_at(before, i);

                row.model_files = row.model_bytes = 0;
                if (!ald_rows_find(ald_storage_targets_rows(targets), row.id))
                        put_file_system(targets, &row);
        }
}

/* Warns once about each configured path on which nothing is found. */
static void warn_missing_paths(const AldStorageTargets *targets, const AldRecord *before)
{
        const AldRows *known = before ? &ald_record_as(before, STORAGE_RESULT, AldStorageResult)->errors
                                      : NULL;
        const AldRows *errors = &result_of_list(targets)->errors;

        for (size_t i = 0; i < errors->n; i++) {
                const AldStorageError *error = ald_rows_at(errors, i);

                if (!ald_rows_find(ald_storage_targets_rows(targets), error->id) &&
                        !(known && ald_rows_find(known, error->id)))
                        g_warning("model-paths=: %s: %s", error->id, error->message ?: error->error);
        }
}

/* Returns whether an error, which may soon be over, hinders a file system. */
static bool is_hindered(const AldStorageTargets *targets)
{
        const AldRows *rows = ald_storage_targets_rows(targets);

        for (size_t i = 0; rows && i < rows->n; i++)
                if (ald_rows_find(&result_of_list(targets)->errors,
                            ((const AldStorageFigures *) ald_rows_at(rows, i))->id))
                        return true;
        return false;
}

static void take_list(AldStorageTargets *targets, AldRecord *list)
{
        g_autoptr(AldRecord) before = targets->list;
        const AldRows *rows;

        targets->list = list;
        rows = ald_storage_targets_rows(targets);
        warn_missing_paths(targets, before);
        put_empty(targets,
                before ? &ald_record_as(before, STORAGE_RESULT, AldStorageResult)->file_systems : NULL);
        for (size_t i = 0; i < rows->n; i++) {
                const AldStorageFigures *row = ald_rows_at(rows, i);

                if (is_of_interest(targets, row))
                        put_file_system(targets, row);
        }
}

/* Logs a failure once, until listing succeeds again. */
static void warn_once(AldStorageTargets *targets, const char *failure)
{
        if (!targets->warned)
                g_warning("Cannot look for models: the probe %s", failure);
        targets->warned = true;
}

static void on_listed(const char *output, const char *failure, void *userdata)
{
        AldStorageTargets *targets = userdata;
        AldProbeChild *child = g_steal_pointer(&targets->child);
        AldRecord *list = NULL;

        targets->late = false;
        if (failure)
                warn_once(targets, failure);
        else if (ald_probe_answer_parse(ALD_KIND_STORAGE_RESULT, output, &list) < 0)
                warn_once(targets, "returned no list");
        else {
                targets->warned = false;
                take_list(targets, list);
                /* Other file systems may be due now. */
                ald_device_schedule_check(targets->schedule);
        }
        /* The texts belong to the child. */
        ald_probe_child_free(child);
}

static void start_list(AldStorageTargets *targets, const char *const *paths)
{
        static const AldProbeChildHandler handler = { .ended = on_listed };
        g_autoptr(GPtrArray) arguments = g_ptr_array_new_with_free_func(g_free);
        int r;

        ald_program_add(arguments, "--list");
        ald_program_add(arguments, "--json");
        add_paths(targets, arguments);
        g_ptr_array_add(arguments, NULL);
        targets->listed_usec = now_usec();
        g_strfreev(targets->listed_paths);
        targets->listed_paths = g_strdupv((char **) paths);
        r = ald_probe_child_new(targets->program, (const char *const *) arguments->pdata, -1,
                LIST_DEADLINE_MSEC, &handler, targets, &targets->child);
        if (r < 0)
                warn_once(targets, "could not be run");
}

static bool is_rotating(const AldStorageFigures *row)
{
        return row->rotational == true && row->disks;
}

/* Returns a text such as "sda may be asleep", or NULL. */
static char *why_asleep(const AldStorageTargets *targets, const AldStorageFigures *row)
{
        for (const char *const *disk = row->disks; is_rotating(row) && *disk; disk++)
                if (is_idle(targets, *disk))
                        return g_strdup_printf("%s may be asleep", *disk);
        return NULL;
}

static const AldStorageError *find_error(const AldStorageTargets *targets, const char *id)
{
        return targets->list ? ald_rows_find(&result_of_list(targets)->errors, id) : NULL;
}

/* Returns whether a disk that was asleep has woken, so that its file systems can be listed without waking
 * it. */
static bool has_woken(const AldStorageTargets *targets)
{
        const AldRows *rows = ald_storage_targets_rows(targets);

        for (size_t i = 0; rows && i < rows->n; i++) {
                const AldStorageFigures *row = ald_rows_at(rows, i);
                const AldStorageError *error = find_error(targets, row->id);
                g_autofree char *reason = why_asleep(targets, row);

                if (error && g_str_equal(error->error, "asleep") && is_rotating(row) && !reason)
                        return true;
        }
        return false;
}

static bool is_list_due(const AldStorageTargets *targets, const char *const *paths)
{
        uint64_t interval = targets->list && !is_hindered(targets) ? LIST_USEC : LIST_AGAIN_USEC;

        if (targets->listed_usec == 0 || !targets->listed_paths ||
                !g_strv_equal((const char *const *) targets->listed_paths, paths))
                return true;
        return now_usec() - targets->listed_usec >= interval || has_woken(targets);
}

void ald_storage_targets_tick(AldStorageTargets *targets, AldDeviceSchedule *schedule)
{
        bool optional = false;
        const char *const *paths = choose_paths(targets, &optional);

        targets->schedule = schedule;
        if (paths)
                read_traffic(targets);
        if (targets->child) {
                /* The child was killed at its deadline. */
                bool late = now_usec() - targets->listed_usec > 2 * LIST_DEADLINE_MSEC * UINT64_C(1000);

                if (late && !targets->late)
                        g_warning("Looking for models does not end: a file system does not respond");
                targets->late = late;
        } else if (paths && is_list_due(targets, paths)) {
                start_list(targets, paths);
        }
        if (!paths)
                g_clear_pointer(&targets->list, ald_record_unref);
}

void ald_storage_targets_refresh(AldStorageTargets *targets)
{
        targets->listed_usec = 0;
}

static void add_default(GPtrArray *paths, char *path)
{
        if (g_ptr_array_find_with_equal_func(paths, path, g_str_equal, NULL))
                g_free(path);
        else
                g_ptr_array_add(paths, path);
}

void ald_storage_targets_take(AldStorageTargets *targets, const AldNodeRecords *own)
{
        static const char *const usual[] = { "/srv/models", "/var/lib/models", "/opt/models",
                "/usr/share/ollama/.ollama/models", "/var/lib/ollama", NULL };
        const AldDisk *disk = ald_node_records_as(own, DISK, AldDisk);
        AldRecord *stored = own->of[ALD_KIND_STORAGE];
        GPtrArray *paths = g_ptr_array_new();

        for (const char *const *path = usual; *path; path++)
                add_default(paths, g_strdup(*path));
        /* Searching all of the root file system would take too long. */
        for (size_t i = 0; disk && i < disk->paths.n; i++) {
                const char *id = ((const AldDiskPath *) ald_rows_at(&disk->paths, i))->id;

                if (!g_str_equal(id, "/") && !g_str_has_prefix(id, "/boot"))
                        add_default(paths, g_strdup(id));
                add_default(paths, g_build_filename(id, "models", NULL));
        }
        g_ptr_array_add(paths, NULL);
        g_strfreev(targets->defaults);
        targets->defaults = (char **) g_ptr_array_free(paths, FALSE);
        g_clear_pointer(&targets->stored, ald_record_unref);
        targets->stored = stored ? ald_record_ref(stored) : NULL;
}

uint64_t ald_storage_targets_left(const AldStorageTargets *targets, const char *id)
{
        uint64_t limit = ald_config_uint(ald_service_config(targets->service), "storage-mb-per-day") *
                         BYTES_PER_MB;
        const AldStorageFileSystem *stored = ald_storage_targets_stored(targets, id);
        const AldStorageFileSystem *own = ald_row_results_find(
                ald_device_schedule_results(targets->schedule), id);
        uint64_t used = stored ? ald_storage_used(stored, ald_realtime_usec()) : 0;

        /* The state service may not have counted the last attempt yet. */
        if (own && own->attempted_usec != ALD_ABSENT_UINT64 && own->attempt_bytes != ALD_ABSENT_UINT64 &&
                (!stored || stored->attempted_usec != own->attempted_usec))
                used += own->attempt_bytes;
        return limit > used ? MIN(limit - used, BYTES_MAX) : 0;
}

char *ald_storage_targets_hindrance(const AldStorageTargets *targets, const char *id, bool force)
{
        const AldRows *rows = ald_storage_targets_rows(targets);
        const AldStorageFigures *row = rows ? ald_rows_find(rows, id) : NULL;
        const AldStorageError *error = find_error(targets, id);
        char *asleep;

        if (targets->late)
                return g_strdup("a file system does not respond");
        if (!row)
                return g_strdup("no models are known there");
        if (error)
                return g_strdup(error->message ?: error->error);
        asleep = why_asleep(targets, row);
        if (asleep)
                return asleep;
        return force || ald_storage_targets_left(targets, id) >= BYTES_MIN
                       ? NULL
                       : g_strdup("storage-mb-per-day= allows no more bytes today");
}

AldProbeTarget ald_storage_targets_make(const AldStorageTargets *targets, const char *id, bool force)
{
        uint64_t bytes = force ? BYTES_MAX : ald_storage_targets_left(targets, id);
        GPtrArray *arguments = g_ptr_array_new();
        AldProbeTarget target = { .device = g_strdup(id), .force = force };

        ald_program_add(arguments, BYTES_OPTION "%" G_GUINT64_FORMAT, bytes);
        add_paths(targets, arguments);
        g_ptr_array_add(arguments, NULL);
        target.arguments = (char **) g_ptr_array_free(arguments, FALSE);
        return target;
}

uint64_t ald_storage_target_bytes(const AldProbeTarget *target)
{
        return g_ascii_strtoull(target->arguments[0] + strlen(BYTES_OPTION), NULL, 10);
}
