/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/field.h"
#include "services/common/sysroot.h"
#include "services/telemetry/host/processor-clocks.h"

#define KHZ UINT64_C(1000)
#define MHZ UINT64_C(1000000)
#define HZ_MAX (UINT64_C(1000) * 1000 * MHZ)

/* Raises *hz to the clock that a file reports in this unit. Returns false if it is missing or implausible. */
static bool read_clock(
        AldProcessorReader *reader, const char *folder, const char *file, uint64_t unit, uint64_t *hz)
{
        uint64_t value;

        if (ald_processor_read_uint64(reader, folder, file, &value) < 0 || value == 0 ||
                value > HZ_MAX / unit)
                return false;
        if (*hz == ALD_ABSENT_UINT64 || *hz < value * unit)
                *hz = value * unit;
        return true;
}

/* Reads a policy, which is named after its first CPU. intel_pstate reports the base clock itself. On machines
 * of other vendors, the folder of the CPU has the nominal clock of CPPC, from their ACPI tables. */
static void read_policy(
        AldProcessorReader *reader, const char *name, AldProcessorClocks *clocks, GHashTable *governors)
{
        g_autofree char *folder = g_strdup_printf(ALD_PROCESSOR_POLICIES_DIR "/%s", name);
        g_autofree char *cpu = g_strdup_printf(ALD_CPUS_DIR "/cpu%s/acpi_cppc", name + strlen("policy"));
        char *governor = NULL;

        if (!read_clock(reader, folder, "base_frequency", KHZ, &clocks->base_hz))
                (void) read_clock(reader, cpu, "nominal_freq", MHZ, &clocks->base_hz);
        (void) read_clock(reader, folder, "cpuinfo_max_freq", KHZ, &clocks->max_hz);
        if (!clocks->driver)
                (void) ald_processor_read_string(reader, folder, "scaling_driver", &clocks->driver);
        if (ald_processor_read_string(reader, folder, "scaling_governor", &governor) >= 0)
                g_hash_table_add(governors, governor);
}

bool ald_processor_is_policy(const char *name)
{
        size_t prefix = strlen("policy");

        return g_str_has_prefix(name, "policy") && name[prefix] != '\0' &&
               name[prefix + strspn(name + prefix, "0123456789")] == '\0';
}

static gint compare_strings(gconstpointer a, gconstpointer b)
{
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static char **to_sorted_strv(GHashTable *strings)
{
        GPtrArray *list = g_ptr_array_new();
        GHashTableIter iter;
        gpointer string;

        if (g_hash_table_size(strings) == 0) {
                g_ptr_array_unref(list);
                return NULL;
        }
        g_hash_table_iter_init(&iter, strings);
        while (g_hash_table_iter_next(&iter, &string, NULL))
                g_ptr_array_add(list, g_strdup(string));
        g_ptr_array_sort(list, compare_strings);
        g_ptr_array_add(list, NULL);
        return (char **) g_ptr_array_free(list, FALSE);
}

void ald_processor_clocks_read(AldProcessorReader *reader, AldProcessorClocks *ret)
{
        g_autoptr(GHashTable) governors = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_auto(GStrv) names = NULL;

        *ret = (AldProcessorClocks){ .base_hz = ALD_ABSENT_UINT64, .max_hz = ALD_ABSENT_UINT64 };
        if (ald_sysroot_list(reader->root, ALD_PROCESSOR_POLICIES_DIR, &names) < 0)
                return;
        for (char **name = names; *name; name++)
                if (ald_processor_is_policy(*name))
                        read_policy(reader, *name, ret, governors);
        ret->governors = to_sorted_strv(governors);
}

void ald_processor_clocks_clear(AldProcessorClocks *clocks)
{
        g_clear_pointer(&clocks->driver, g_free);
        g_clear_pointer(&clocks->governors, g_strfreev);
}
