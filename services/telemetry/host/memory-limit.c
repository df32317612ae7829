/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <glib.h>

#include "services/common/container.h"
#include "services/common/firmware-text.h"
#include "services/common/sysroot.h"
#include "services/telemetry/host/memory-limit.h"

/* The files of each version of control groups. */
static const struct GroupFiles {
        const char *mount;
        const char *controller; /* within a line of /proc/PID/cgroup */
        const char *limits[2];
        const char *current;
        const char *inactive;           /* key in memory.stat that includes groups below */
        const char *hierarchical_limit; /* key in memory.stat: least limit up to the root; or NULL */
} versions[] = {
        { "sys/fs/cgroup", "::", { "memory.max", "memory.high" }, "memory.current", "inactive_file", NULL },
        { "sys/fs/cgroup/memory", "memory", { "memory.limit_in_bytes" }, "memory.usage_in_bytes",
                "total_inactive_file", "hierarchical_memory_limit" },
};

/* Groups without a limit are read less often than memory is, since each time up to three files are opened. */
#define REREAD_USEC (10 * G_USEC_PER_SEC)

typedef struct MemoryGroup {
        char *directory;
        const struct GroupFiles *files;
        gint64 next_read_usec; /* when its limits are read again, monotonic; 0: at each sample */
} MemoryGroup;

struct AldMemoryLimits {
        int root;
        GArray *groups; /* of MemoryGroup */
        bool warned;    /* an unreadable limit was logged */
};

static void clear_group(void *group)
{
        g_free(((MemoryGroup *) group)->directory);
}

static void add_group(
        AldMemoryLimits *limits, const struct GroupFiles *files, const char *path, size_t length)
{
        MemoryGroup group = { g_strdup_printf("%s%.*s", files->mount, (int) length, path), files, 0 };

        g_array_append_val(limits->groups, group);
}

/* Returns the path in a line such as "4:memory:/a/b" or "0::/a/b"; NULL if the line is not of this
 * version. */
static const char *path_of_line(const char *line, const struct GroupFiles *files)
{
        g_auto(GStrv) parts = g_strsplit(line, ":", 3);
        g_auto(GStrv) controllers = NULL;

        if (g_strv_length(parts) != 3 || !g_str_has_prefix(parts[2], "/"))
                return NULL;
        if (g_str_equal(files->controller, "::"))
                return g_str_has_prefix(line, "0::") ? line + strlen("0::") : NULL;
        controllers = g_strsplit(parts[1], ",", -1);
        return g_strv_contains((const char *const *) controllers, files->controller)
                       ? line + strlen(parts[0]) + strlen(parts[1]) + 2
                       : NULL;
}

/*
 * Adds the groups that may limit the container. With a control group namespace, the mount is the root group
 * of the container. Without one, that group is an ancestor of the first process, at a path that exists only
 * if the mount shows the groups of the host.
 */
static void add_groups(AldMemoryLimits *limits, const struct GroupFiles *files, GStrv lines)
{
        const char *path = NULL;

        add_group(limits, files, "", 0);
        for (char **line = lines; *line && !path; line++)
                path = path_of_line(*line, files);
        if (!path || strstr(path, "/.."))
                return;
        for (size_t i = 1; i <= strlen(path); i++)
                if (path[i - 1] != '/' && (path[i] == '/' || path[i] == '\0'))
                        add_group(limits, files, path, i);
}

AldMemoryLimits *ald_memory_limits_new(int root)
{
        g_autofree char *text = NULL;
        g_auto(GStrv) lines = NULL;
        AldMemoryLimits *limits;

        if (!ald_root_is_container(root))
                return NULL;
        limits = g_new(AldMemoryLimits, 1);
        *limits = (AldMemoryLimits){
                .root = root,
                .groups = g_array_new(FALSE, FALSE, sizeof(MemoryGroup)),
        };
        g_array_set_clear_func(limits->groups, clear_group);
        lines = g_strsplit(ald_bytes_try_read(root, "proc/1/cgroup", &text) < 0 ? "" : text, "\n", -1);
        for (size_t i = 0; i < G_N_ELEMENTS(versions); i++)
                add_groups(limits, &versions[i], lines);
        return limits;
}

void ald_memory_limits_free(AldMemoryLimits *limits)
{
        if (!limits)
                return;
        g_array_unref(limits->groups);
        g_free(limits);
}

static uint64_t read_bytes(int root, const MemoryGroup *group, const char *file)
{
        g_autofree char *path = g_strdup_printf("%s/%s", group->directory, file);
        uint64_t bytes;

        return ald_sysroot_read_uint64(root, path, &bytes) < 0 ? ALD_ABSENT_UINT64 : bytes;
}

/* Returns UINT64_MAX if there is no limit, or if it cannot be read, which is tried again at the next
 * sample. */
static uint64_t read_one_limit(AldMemoryLimits *limits, MemoryGroup *group, const char *file)
{
        g_autofree char *path = g_strdup_printf("%s/%s", group->directory, file), *text = NULL;
        uint64_t bytes = UINT64_MAX;
        int r = ald_sysroot_read_string(limits->root, path, &text);

        if (r == -ENOENT || r == -ENOTDIR || (r >= 0 && g_str_equal(text, "max")))
                return UINT64_MAX;
        if (r >= 0)
                r = ald_sysroot_read_uint64(limits->root, path, &bytes);
        if (r < 0) {
                group->next_read_usec = 0;
                if (!limits->warned)
                        g_warning("Cannot read /%s: %s; the limit of this container is not applied", path,
                                g_strerror(-r));
                limits->warned = true;
        }
        return bytes;
}

/* Returns a number from memory.stat, or `fallback` if it is missing. */
static uint64_t read_stat(int root, const MemoryGroup *group, const char *key, uint64_t fallback)
{
        g_autofree char *path = g_strdup_printf("%s/memory.stat", group->directory), *text = NULL;
        g_auto(GStrv) lines = NULL;

        if (ald_sysroot_read(root, path, &text) < 0)
                return fallback;
        lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line; line++) {
                const char *space = strchr(*line, ' ');
                guint64 bytes;

                if (space && strlen(key) == (size_t) (space - *line) && g_str_has_prefix(*line, key) &&
                        g_ascii_string_to_unsigned(space + 1, 10, 0, G_MAXUINT64, &bytes, NULL))
                        return bytes;
        }
        return fallback;
}

/* Returns the smallest limit of a group, UINT64_MAX if it has none ("max"). Beyond memory.high, a group is
 * slowed down until it gives memory back, so programs cannot plan with more either. */
static uint64_t read_limit(AldMemoryLimits *limits, MemoryGroup *group)
{
        const struct GroupFiles *files = group->files;
        uint64_t limit = UINT64_MAX;

        for (size_t i = 0; i < G_N_ELEMENTS(files->limits) && files->limits[i]; i++)
                limit = MIN(limit, read_one_limit(limits, group, files->limits[i]));
        return files->hierarchical_limit
                       ? MIN(limit, read_stat(limits->root, group, files->hierarchical_limit, limit))
                       : limit;
}

/* Returns what is left below a limit; absent if the usage is unknown. */
static uint64_t read_remaining(int root, const MemoryGroup *group, uint64_t limit)
{
        uint64_t current = read_bytes(root, group, group->files->current);
        uint64_t inactive;

        if (current == ALD_ABSENT_UINT64)
                return ALD_ABSENT_UINT64;
        /* The kernel can drop cached file contents that were not used lately. */
        inactive = read_stat(root, group, group->files->inactive, 0);
        current -= MIN(current, inactive);
        return limit - MIN(limit, current);
}

void ald_memory_limits_apply(AldMemoryLimits *limits, AldMemory *memory)
{
        const uint64_t total = memory->total_bytes;
        const gint64 now = g_get_monotonic_time();

        if (total == ALD_ABSENT_UINT64)
                return;
        for (guint i = 0; i < limits->groups->len; i++) {
                MemoryGroup *group = &g_array_index(limits->groups, MemoryGroup, i);
                uint64_t limit;

                if (now < group->next_read_usec)
                        continue;
                group->next_read_usec = now + REREAD_USEC;
                limit = read_limit(limits, group);
                if (limit == 0 || limit >= total)
                        continue;
                group->next_read_usec = 0;
                memory->total_bytes = MIN(memory->total_bytes, limit);
                if (memory->available_bytes != ALD_ABSENT_UINT64) {
                        uint64_t rest = read_remaining(limits->root, group, limit);

                        memory->available_bytes = rest == ALD_ABSENT_UINT64
                                                          ? rest
                                                          : MIN(memory->available_bytes, rest);
                }
        }
}
