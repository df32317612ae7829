/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <unistd.h>

#include "probes/compute/opencl/drivers.h"

#define VENDORS "/etc/OpenCL/vendors"
#define DRIVERS_MAX 32u

static int by_name(const void *a, const void *b)
{
        return g_strcmp0(*(char *const *) a, *(char *const *) b);
}

static char **list_names(const char *vendors)
{
        g_autoptr(GDir) folder = g_dir_open(vendors, 0, NULL);
        GPtrArray *names = g_ptr_array_new();

        for (const char *name; folder && names->len < DRIVERS_MAX && (name = g_dir_read_name(folder));)
                if (g_str_has_suffix(name, ".icd"))
                        g_ptr_array_add(names, g_strdup(name));
        g_ptr_array_sort(names, by_name);
        g_ptr_array_add(names, NULL);
        return (char **) g_ptr_array_free(names, FALSE);
}

/* The folder, or NULL if it cannot be made. */
static char *separate(const char *base, const char *vendors, const char *name)
{
        g_autofree char *folder = g_build_filename(base, name, NULL), *link = NULL, *target = NULL;

        link = g_build_filename(folder, name, NULL);
        target = g_build_filename(vendors, name, NULL);
        if (g_mkdir_with_parents(folder, 0700) < 0 || (unlink(link) < 0 && errno != ENOENT) ||
                (symlink(target, link) < 0 && errno != EEXIST))
                return NULL;
        return g_steal_pointer(&folder);
}

char **ald_drivers_separate(const char *folder)
{
        g_autofree char *vendors = g_canonicalize_filename(g_getenv("OCL_ICD_VENDORS") ?: VENDORS, NULL);
        g_auto(GStrv) names = list_names(vendors);
        g_autofree char *base = g_build_filename(folder, "drivers", NULL);
        GPtrArray *made = g_ptr_array_new();

        for (char **name = names; *name; name++) {
                char *one = separate(base, vendors, *name);

                if (one)
                        g_ptr_array_add(made, one);
        }
        g_ptr_array_add(made, NULL);
        return (char **) g_ptr_array_free(made, FALSE);
}
