/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include <glib.h>

#include "record/field.h"
#include "record/figure-text.h"
#include "services/common/owner.h"
#include "services/common/sysroot.h"
#include "services/link-probe/machine/cpu-units.h"

#define TOP "sys/fs/cgroup"
#define DEPTH_MAX 8u
#define LAST (ALD_CPU_UNITS_SAMPLES - 1)

/* Below this load of the machine since the last reading, its groups are not worth reading. */
#define IDLE_PERCENT 25.0

/* The share in a reason is not stated anew until it differs by more than this. */
#define PERCENT_STEP 10.0

/* The times of the last readings, the newest first. */
typedef struct Group {
        uint64_t usec[ALD_CPU_UNITS_SAMPLES];
        bool seen; /* at the present reading */
} Group;

struct AldCpuUnits {
        int root;
        unsigned processors;
        uint64_t read[ALD_CPU_UNITS_SAMPLES]; /* when, the newest first */
        Group machine;
        GHashTable *groups;           /* path below TOP → Group */
        unsigned n_machine, n_groups; /* successive readings of the machine, and of the groups */
        unsigned visited;             /* groups at the present reading */
        char *unit, *reason;          /* NULL while there is none */
        double percent;               /* in the reason */
        bool are_named;               /* there */
        uint64_t since, ended;        /* CLOCK_REALTIME; CLOCK_MONOTONIC, 0 while there is one */
};

AldCpuUnits *ald_cpu_units_new(int root, unsigned processors)
{
        AldCpuUnits *units = g_new0(AldCpuUnits, 1);

        units->root = root;
        units->processors = MAX(processors, 1);
        units->groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        units->since = ALD_ABSENT_UINT64;
        return units;
}

void ald_cpu_units_free(AldCpuUnits *units)
{
        if (!units)
                return;
        g_hash_table_unref(units->groups);
        g_free(units->unit);
        g_free(units->reason);
        g_free(units);
}

bool ald_cpu_units_parse(const char *text, uint64_t *ret_usec)
{
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        for (char **line = lines; *line; line++)
                if (g_str_has_prefix(*line, "usage_usec "))
                        return g_ascii_string_to_unsigned(
                                strchr(*line, ' ') + 1, 10, 0, ALD_INTEGER_MAX, ret_usec, NULL);
        return false;
}

static bool read_usage(const AldCpuUnits *units, const char *path, uint64_t *ret)
{
        g_autofree char *file = g_strconcat(TOP "/", path, *path ? "/" : "", "cpu.stat", NULL), *text = NULL;

        return ald_sysroot_read(units->root, file, &text) >= 0 && ald_cpu_units_parse(text, ret);
}

/* Leaves out the time that a group had used before it was first seen. */
static void add_sample(Group *group, uint64_t usec, bool is_new)
{
        memmove(group->usec + 1, group->usec, sizeof group->usec - sizeof *group->usec);
        for (unsigned i = 0; i < (is_new ? ALD_CPU_UNITS_SAMPLES : 1); i++)
                group->usec[i] = usec;
        group->seen = true;
}

static double percent_between(const AldCpuUnits *units, const Group *group, unsigned before)
{
        double usec = (double) group->usec[0] - (double) group->usec[before];

        return 100 * usec / ((double) (units->read[0] - units->read[before]) * units->processors);
}

static bool is_user(const char *name)
{
        return g_str_has_prefix(name, "user-") && g_str_has_suffix(name, ".slice");
}

/* Returns whether a group is what the manager of services, containers or jobs starts as a whole. */
static bool is_unit(const char *name)
{
        return is_user(name) || g_str_has_prefix(name, "job_") || g_str_has_prefix(name, "lxc.payload.") ||
               g_str_has_suffix(name, ".service") ||
               (g_str_has_suffix(name, ".scope") && !g_str_has_prefix(name, "slurmstepd"));
}

/* Returns whether a name is that of a group. The kernel's own files in a group all have a dot; of the groups
 * that managers create, only slices and scopes have one. */
static bool is_group(const char *name)
{
        return is_unit(name) || !strchr(name, '.') || g_str_has_suffix(name, ".slice") ||
               g_str_has_suffix(name, ".scope");
}

static void read_unit(AldCpuUnits *units, const char *path)
{
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
        Group *group = g_hash_table_lookup(units->groups, path);
        uint64_t usec;

        if (g_str_has_prefix(name, "alidade-") || !read_usage(units, path, &usec))
                return;
        if (group) {
                /* A group of the same name that was created anew counts from zero. */
                add_sample(group, usec, usec < group->usec[0]);
                return;
        }
        group = g_new0(Group, 1);
        add_sample(group, usec, true);
        g_hash_table_insert(units->groups, g_strdup(path), group);
}

/* Reads the units below a group; if there are none, the group is one itself. */
static void read_groups(AldCpuUnits *units, const char *path, unsigned depth)
{
        g_autofree char *directory = g_strconcat(TOP "/", path, NULL);
        g_auto(GStrv) names = NULL;
        bool any = false;

        if (ald_sysroot_list(units->root, directory, &names) < 0)
                return;
        for (char **name = names; *name && units->visited < ALD_CPU_UNITS_GROUPS_MAX; name++) {
                g_autofree char *below = g_strconcat(path, *path ? "/" : "", *name, NULL);

                if (!is_group(*name))
                        continue;
                units->visited++;
                any = true;
                if (is_unit(*name))
                        read_unit(units, below);
                else if (depth < DEPTH_MAX)
                        read_groups(units, below, depth + 1);
        }
        if (!any && *path)
                read_unit(units, path);
}

static gboolean is_gone(gpointer path, gpointer group, gpointer unused)
{
        bool seen = ((Group *) group)->seen;

        ((Group *) group)->seen = false;
        return !seen;
}

/* Returns the path of the unit with the largest share, or NULL if none is known. */
static const char *find_largest(const AldCpuUnits *units, double *ret_percent)
{
        const char *largest = NULL;
        GHashTableIter iter;
        gpointer path, group;

        *ret_percent = 0;
        g_hash_table_iter_init(&iter, units->groups);
        while (units->n_groups >= ALD_CPU_UNITS_SAMPLES && g_hash_table_iter_next(&iter, &path, &group)) {
                double percent = percent_between(units, group, LAST);

                if (percent > *ret_percent) {
                        *ret_percent = percent;
                        largest = path;
                }
        }
        return largest;
}

/* The reason is sent to the cluster, so it names the unit as Node1.Processes does, if at all. */
static void describe(AldCpuUnits *units)
{
        g_autofree char *figure = ald_format_figure(&ald_unit_percent, MIN(units->percent, 100));
        AldOwner owner = { .kind = ALD_HOLDER_OWNER_KIND_NONE };
        const char *before = "", *name = owner.name, *after = "";

        if (units->are_named)
                ald_owner_parse(units->unit, &owner);
        if (owner.kind == ALD_HOLDER_OWNER_KIND_NONE) {
                name = "one unit";
        } else if (owner.kind == ALD_HOLDER_OWNER_KIND_SESSION) {
                name = "a user's session";
        } else if (owner.kind == ALD_HOLDER_OWNER_KIND_JOB) {
                before = "job ";
                after = " of Slurm";
        }
        g_free(units->reason);
        units->reason = g_strdup_printf("%s%s%s uses %s of the processors", before, name, after, figure);
}

void ald_cpu_units_set_named(AldCpuUnits *units, bool are_named)
{
        units->are_named = are_named;
        if (units->unit)
                describe(units);
}

static bool end_unit(AldCpuUnits *units, uint64_t now_usec)
{
        bool had = units->unit != NULL;

        if (had)
                units->ended = now_usec;
        else if (units->ended != 0 && now_usec >= units->ended + ALD_CPU_UNITS_PAUSE_USEC)
                units->since = ALD_ABSENT_UINT64;
        g_clear_pointer(&units->unit, g_free);
        g_clear_pointer(&units->reason, g_free);
        return had;
}

static bool judge(AldCpuUnits *units, uint64_t now_usec, uint64_t now_realtime)
{
        double percent;
        const char *path = find_largest(units, &percent);

        if (!path || percent < (units->unit ? ALD_CPU_UNITS_PERCENT_LEAST : ALD_CPU_UNITS_PERCENT))
                return end_unit(units, now_usec);
        if (units->since == ALD_ABSENT_UINT64 ||
                (units->ended != 0 && now_usec >= units->ended + ALD_CPU_UNITS_PAUSE_USEC))
                units->since = now_realtime;
        units->ended = 0;
        if (g_strcmp0(units->unit, path) == 0 && fabs(percent - units->percent) <= PERCENT_STEP)
                return false;
        g_free(units->unit);
        units->unit = g_strdup(path);
        units->percent = percent;
        describe(units);
        return true;
}

/* Returns whether the machine as a whole does so little that no unit can use half of its processors. */
static bool is_idle(const AldCpuUnits *units)
{
        return !units->unit && units->n_machine >= ALD_CPU_UNITS_SAMPLES &&
               percent_between(units, &units->machine, 1) < IDLE_PERCENT &&
               percent_between(units, &units->machine, LAST) < ALD_CPU_UNITS_PERCENT;
}

bool ald_cpu_units_read(AldCpuUnits *units, uint64_t now_usec, uint64_t now_realtime)
{
        uint64_t usec;

        if (units->n_machine > 0 && now_usec < units->read[0] + ALD_CPU_UNITS_STEP_USEC)
                return false;
        if (!read_usage(units, "", &usec)) {
                units->n_machine = units->n_groups = 0;
                g_hash_table_remove_all(units->groups);
                return end_unit(units, now_usec);
        }
        memmove(units->read + 1, units->read, sizeof units->read - sizeof *units->read);
        units->read[0] = now_usec;
        add_sample(&units->machine, usec, units->n_machine == 0);
        units->n_machine = MIN(units->n_machine + 1, ALD_CPU_UNITS_SAMPLES);
        if (is_idle(units)) {
                units->n_groups = 0;
                g_hash_table_remove_all(units->groups);
                return end_unit(units, now_usec);
        }
        units->visited = 0;
        read_groups(units, "", 0);
        (void) g_hash_table_foreach_remove(units->groups, is_gone, NULL);
        units->n_groups = MIN(units->n_groups + 1, ALD_CPU_UNITS_SAMPLES);
        return judge(units, now_usec, now_realtime);
}

const char *ald_cpu_units_reason(const AldCpuUnits *units)
{
        return units->reason;
}

uint64_t ald_cpu_units_since(const AldCpuUnits *units)
{
        return units->unit ? units->since : ALD_ABSENT_UINT64;
}
