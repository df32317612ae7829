/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "common/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *refuse_z(const char *value)
{
        return strchr(value, 'z') ? "has a z" : NULL;
}

static const AldConfigKey keys[] = {
        { "state", "max-nodes", ALD_CONFIG_UINT, 1, 10000, "1000", NULL, NULL },
        { "state", "switch", ALD_CONFIG_BOOLEAN, 0, 0, "true", NULL, NULL },
        { "state", "text", ALD_CONFIG_STRING, 0, 0, "red", refuse_z, NULL },
        { "telemetry", "disk-paths", ALD_CONFIG_STRV, 0, 0, "/;/srv", refuse_z, NULL },
        { NULL },
};

static char *folder;

static GLogWriterOutput silent(GLogLevelFlags flags, const GLogField *fields, gsize n, gpointer userdata)
{
        return G_LOG_WRITER_HANDLED;
}

static void remove_folder(void)
{
        g_autofree char *path = g_build_filename(folder, "alidade.conf", NULL);

        g_unlink(path);
        g_rmdir(folder);
        g_free(folder);
}

static void make_folder(void)
{
        folder = g_dir_make_tmp("alidade-fuzz-XXXXXX", NULL);
        g_assert_nonnull(folder);
        atexit(remove_folder);
        g_log_set_writer_func(silent, NULL, NULL);
}

/* Whatever the file says, each key has a value that is acceptable. */
static void check(const AldConfig *config)
{
        const char *const *list = ald_config_strv(config, "disk-paths");
        uint64_t number = ald_config_uint(config, "max-nodes");

        g_assert_cmpuint(number, >=, 1);
        g_assert_cmpuint(number, <=, 10000);
        ald_config_boolean(config, "switch");
        g_assert_true(g_utf8_validate(ald_config_string(config, "text"), -1, NULL));
        g_assert_null(refuse_z(ald_config_string(config, "text")));
        for (; *list; list++) {
                g_assert_cmpuint(strlen(*list), >, 0);
                g_assert_null(refuse_z(*list));
        }
}

/* Finds each key and group where GLib has found it. */
static void check_problems(const AldConfig *config)
{
        const GPtrArray *problems = ald_config_problems(config);

        g_assert_cmpuint(problems->len, <=, ALD_CONFIG_PROBLEMS_MAX);
        for (guint i = 0; i < problems->len; i++) {
                const AldConfigProblem *problem = problems->pdata[i];
                g_autofree char *words = ald_config_problem_format(problem);

                g_assert_true(g_utf8_validate(words, -1, NULL));
                g_assert_true(!problem->group || problem->line > 0);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autofree char *path = NULL;
        AldConfig *config;

        if (!folder)
                make_folder();
        path = g_build_filename(folder, "alidade.conf", NULL);
        g_assert_true(g_file_set_contents_full(
                path, (const char *) data, (gssize) size, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
        config = ald_config_load(keys, folder);
        check(config);
        check_problems(config);
        ald_config_free(config);
        return 0;
}
