/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <stdarg.h>

#include "services/link-probe/probe/program.h"

char *ald_program_find(const char *name)
{
        const char *directory = g_getenv("ALIDADE_PROBE_DIR");

        return g_build_filename(directory && *directory ? directory : ALD_BIN_DIR, name, NULL);
}

void ald_program_add(GPtrArray *arguments, const char *format, ...)
{
        va_list values;

        va_start(values, format);
        g_ptr_array_add(arguments, g_strdup_vprintf(format, values));
        va_end(values);
}

GPtrArray *ald_program_arguments(const AldProgram *program)
{
        GPtrArray *arguments = g_ptr_array_new_with_free_func(g_free);
        const char *crl = ald_credentials_newest_crl(program->credentials);

        ald_program_add(arguments, "--json");
        ald_program_add(arguments, "--identity=%s", program->credentials->folder);
        if (crl)
                ald_program_add(arguments, "--crl=%s", crl);
        ald_program_add(arguments, "--bytes-max=%" G_GUINT64_FORMAT, program->config->bytes_per_probe);
        return arguments;
}
