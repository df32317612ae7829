/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/common/sysroot.h"
#include "services/telemetry/host/processor-reader.h"

/* Returns whether an error is normal: the machine or kernel lacks the file, a container hides it, or the CPU
 * has just gone offline. */
static bool is_expected_error(int error)
{
        return error == -ENOENT || error == -ENOTDIR || error == -ENODEV || error == -ENXIO;
}

void ald_processor_warn(AldProcessorReader *reader, const char *folder, const char *file, int error)
{
        if (!is_expected_error(error) && g_hash_table_add(reader->warned, g_strdup(file)))
                g_warning("Cannot read /%s/%s: %s; its values are omitted", folder, file, g_strerror(-error));
}

int ald_processor_read_string(AldProcessorReader *reader, const char *folder, const char *file, char **ret)
{
        g_autofree char *path = g_strdup_printf("%s/%s", folder, file);
        int r = ald_sysroot_read_string(reader->root, path, ret);

        if (r < 0)
                ald_processor_warn(reader, folder, file, r);
        return r;
}

int ald_processor_read_uint64(AldProcessorReader *reader, const char *folder, const char *file, uint64_t *ret)
{
        g_autofree char *path = g_strdup_printf("%s/%s", folder, file);
        int r = ald_sysroot_read_uint64(reader->root, path, ret);

        if (r < 0)
                ald_processor_warn(reader, folder, file, r);
        return r;
}

int ald_processor_read_cpus(AldProcessorReader *reader, const char *folder, const char *file, AldCpuSet *ret)
{
        g_autofree char *path = g_strdup_printf("%s/%s", folder, file), *text = NULL;
        int r = ald_sysroot_read(reader->root, path, &text);

        if (r >= 0)
                r = ald_cpu_set_parse(text, ret);
        if (r < 0)
                ald_processor_warn(reader, folder, file, r);
        return r;
}
