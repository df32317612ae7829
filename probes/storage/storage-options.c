/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/storage/storage-options.h"
#include "probes/storage/read.h"

#define PATHS_MAX 256u

const AldCommandLine ald_storage_command_line = {
        .program = "alidade-probe-storage",
        .parameters = "PATH…",
        .summary = "Measure how fast model files are read from the file systems that hold them.",
};

/* The arguments of options that are converted once all have been read. */
typedef struct Texts {
        char *bytes, *still, *progress_fd;
} Texts;

static void texts_clear(Texts *texts)
{
        g_free(texts->bytes);
        g_free(texts->still);
        g_free(texts->progress_fd);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Texts, texts_clear)

static int set_paths(AldStorageOptions *options, char *const *paths, char **ret_error)
{
        g_autoptr(GPtrArray) normal = g_ptr_array_new_with_free_func(g_free);

        for (; *paths; paths++) {
                char *path = ald_storage_normalize(*paths);

                if (!path)
                        return ald_command_line_refuse(
                                ret_error, "not an absolute path without \"..\": %s", *paths);
                g_ptr_array_add(normal, path);
        }
        if (normal->len == 0)
                return ald_command_line_refuse(ret_error, "name the directories that hold models");
        if (normal->len > PATHS_MAX)
                return ald_command_line_refuse(ret_error, "more than %u directories", PATHS_MAX);
        g_ptr_array_add(normal, NULL);
        options->paths = (char **) g_ptr_array_free(g_steal_pointer(&normal), FALSE);
        return 0;
}

static int convert_texts(AldStorageOptions *options, const Texts *texts, char *const *rest, char **ret_error)
{
        int r = set_paths(options, rest, ret_error);

        if (r >= 0)
                r = ald_command_line_bytes("bytes", texts->bytes, &options->bytes, ret_error);
        if (r >= 0 && (options->bytes < ALD_STORAGE_BYTES_MIN || options->bytes > ALD_STORAGE_BYTES_MAX))
                r = ald_command_line_refuse(ret_error, "--bytes: not from 34M to 8G: %s", texts->bytes);
        if (r >= 0)
                r = ald_command_line_fd("progress-fd", texts->progress_fd, &options->progress_fd, ret_error);
        if (r >= 0 && options->file_system && *options->file_system != '/')
                r = ald_command_line_refuse(
                        ret_error, "--file-system: not a mount point: %s", options->file_system);
        if (r >= 0 && texts->still)
                options->still = g_strsplit(texts->still, ",", -1);
        return r;
}

static int parse_options(
        AldStorageOptions *options, int argc, char **argv, char **ret_output, char **ret_error)
{
        g_auto(Texts) texts = {};
        g_auto(GStrv) rest = NULL;
        const GOptionEntry entries[] = {
                ALD_COMMAND_LINE_SWITCH("list", &options->lists, "Show the file systems that hold models"),
                ALD_COMMAND_LINE_TEXT("file-system", &options->file_system,
                        "Measure only the one that is mounted at MOUNT", "MOUNT"),
                ALD_COMMAND_LINE_TEXT("bytes", &texts.bytes, "Read at most N bytes of each (256M)", "N"),
                ALD_COMMAND_LINE_SWITCH("give-way", &options->gives_way,
                        "Stop if the disk is in use, rather than measure beside other programs"),
                ALD_COMMAND_LINE_SWITCH(
                        "optional", &options->optional, "Skip a PATH that is missing, or on the network"),
                ALD_COMMAND_LINE_TEXT("still", &texts.still,
                        "Skip these disks if they rotate: they may be asleep", "DISK[,…]"),
                ALD_COMMAND_LINE_SWITCH("json", &options->json, "Print the result as JSON"),
                ALD_COMMAND_LINE_HIDDEN_TEXT("progress-fd", &texts.progress_fd),
                ALD_COMMAND_LINE_HIDDEN_TEXT("root", &options->root),
                ALD_COMMAND_LINE_HIDDEN_SWITCH("lenient", &options->lenient),
                {},
        };
        const GOptionEntry *const tables[] = { entries, NULL };
        int r = ald_command_line_parse(
                &ald_storage_command_line, tables, NULL, argc, argv, &rest, ret_output, ret_error);

        if (r != 0)
                return r;
        if (!options->root)
                options->root = g_strdup("/");
        return convert_texts(options, &texts, rest, ret_error);
}

int ald_storage_options_parse(
        int argc, char **argv, AldStorageOptions *ret, char **ret_output, char **ret_error)
{
        g_auto(AldStorageOptions) options = { .bytes = ALD_STORAGE_BYTES_DEFAULT, .progress_fd = -1 };
        int r = parse_options(&options, argc, argv, ret_output, ret_error);

        if (r == 0) {
                *ret = options;
                options = (AldStorageOptions){};
        }
        return r;
}

void ald_storage_options_clear(AldStorageOptions *options)
{
        g_strfreev(options->paths);
        g_strfreev(options->still);
        g_free(options->file_system);
        g_free(options->root);
        *options = (AldStorageOptions){};
}
