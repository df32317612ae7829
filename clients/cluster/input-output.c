/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/cluster/command-report.h"
#include "clients/cluster/input-output.h"
#include "clients/command-line/print.h"
#include "common/fd.h"
#include "pki/file.h"

const char *ald_input_file(const AldClusterCommand *command)
{
        return command->n_args > 0 && strcmp(command->ctl.args[0], "-") != 0 ? command->ctl.args[0] : NULL;
}

int ald_input_read_all(int fd, size_t max, char **ret, size_t *ret_n)
{
        g_autofree char *text = g_malloc(max + 1);
        size_t n = 0;
        ssize_t got;

        do {
                got = TEMP_FAILURE_RETRY(read(fd, text + n, max + 1 - n));
                n += got > 0 ? (size_t) got : 0;
        } while (got > 0 && n <= max);
        if (got < 0 || n > max)
                return got < 0 ? -errno : -EFBIG;
        text[n] = '\0';
        *ret = g_steal_pointer(&text);
        *ret_n = n;
        return 0;
}

int ald_input_read(const AldClusterCommand *command, size_t max, char **ret, size_t *ret_n)
{
        const char *path = ald_input_file(command), *name = path ? path : "standard input";
        ald_fd int opened = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        int r;

        if (path && opened < 0)
                return ald_report_failure(-errno, name, NULL);
        if (!path && isatty(STDIN_FILENO))
                ald_print_error("Reading from the terminal; end with Ctrl-D");
        r = ald_input_read_all(path ? opened : STDIN_FILENO, max, ret, ret_n);
        return r < 0 ? ald_report_failure(r, name, NULL) : ALD_EXIT_OK;
}

/* Returns whether only root, or the user who runs this program, can add files to a folder. */
static bool is_trusted(int folder)
{
        struct stat st;

        return fstat(folder, &st) == 0 && (st.st_uid == 0 || st.st_uid == geteuid()) &&
               (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Opens a folder without following links that other users could have made. */
static int open_folder(const char *path)
{
        g_auto(GStrv) names = g_strsplit(path, "/", -1);
        ald_fd int folder = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

        for (char **name = names; folder >= 0 && *name; name++) {
                bool follow = is_trusted(folder);
                int next;

                if (**name == '\0')
                        continue;
                next = openat(folder, *name, O_PATH | O_DIRECTORY | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
                if (next < 0)
                        return -errno;
                ald_fd_close(&folder);
                folder = next;
        }
        return folder < 0 ? -errno : ald_fd_steal(&folder);
}

static int replace_file(int folder, const char *name, const char *text, mode_t mode)
{
        g_autofree char *beside = g_strdup_printf("%s.%08x", name, g_random_int());
        ald_fd int fd = openat(folder, beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        int r;

        if (fd < 0)
                return -errno;
        r = ald_pki_fd_write(fd, text, strlen(text));
        if (r == 0 && (fchmod(fd, mode) < 0 || fsync(fd) < 0 || renameat(folder, beside, folder, name) < 0))
                r = -errno;
        if (r < 0)
                (void) unlinkat(folder, beside, 0);
        return r;
}

static int write_into(int folder, const char *name, const char *text)
{
        ald_fd int fd = openat(folder, name, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);

        return fd < 0 ? -errno : ald_pki_fd_write(fd, text, strlen(text));
}

bool ald_output_is_standard(const AldClusterCommand *command)
{
        return !command->changes->check && (!command->output || strcmp(command->output, "-") == 0);
}

int ald_output_prepare(const AldClusterCommand *command)
{
        if (!ald_output_is_standard(command))
                return ALD_EXIT_OK;
        if (command->changes->json) {
                ald_print_error("--json needs --output= or --check, since standard output cannot take both");
                return ALD_EXIT_USAGE;
        }
        command->changes->tell = stderr;
        return ALD_EXIT_OK;
}

int ald_output_print(AldChanges *changes, const char *text)
{
        changes->printed = true;
        fputs(text, stdout);
        return ald_print_finish();
}

static bool has_text(int folder, const char *name, const char *text)
{
        ald_fd int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        g_autofree char *found = NULL;
        struct stat st;
        size_t n;

        return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
               ald_input_read_all(fd, strlen(text), &found, &n) >= 0 && strcmp(found, text) == 0;
}

/* Opens the folder of an output file. Sets *ret_replace to false if something exists that is written to
 * instead of replaced. */
static int open_output_folder(const char *path, int *ret_folder, bool *ret_replace)
{
        g_autofree char *folder_path = g_path_get_dirname(path), *name = g_path_get_basename(path);
        ald_fd int folder = open_folder(folder_path);
        struct stat st;
        bool replace;

        if (folder < 0)
                return ald_report_failure(folder, path, NULL);
        replace = fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISREG(st.st_mode);
        if (!replace && S_ISDIR(st.st_mode))
                return ald_report_failure(-EISDIR, path, NULL);
        if (!replace && !is_trusted(folder)) {
                ald_print_error(
                        "%s is not a regular file, and other users can write to its folder: choose another "
                        "place",
                        path);
                return ALD_EXIT_ERROR;
        }
        *ret_folder = ald_fd_steal(&folder);
        *ret_replace = replace;
        return ALD_EXIT_OK;
}

int ald_output_write_file(AldChanges *changes, const char *path, const char *text, mode_t mode)
{
        g_autofree char *name = g_path_get_basename(path);
        ald_fd int folder = -1;
        bool replace;
        int r;

        r = open_output_folder(path, &folder, &replace);
        if (r != ALD_EXIT_OK)
                return r;
        if (has_text(folder, name, text)) {
                ald_changes_note(changes, "Kept %s", path);
                return ALD_EXIT_OK;
        }
        if (changes->check)
                r = 0;
        else if (replace)
                r = replace_file(folder, name, text, mode);
        else /* a link is followed, not replaced: /dev/stdout is one */
                r = write_into(folder, name, text);
        if (r < 0)
                return ald_report_failure(r, path, NULL);
        ald_changes_add(changes, ALD_CHANGE_WRITE, path, "%s", "");
        return ALD_EXIT_OK;
}

int ald_output_give(const AldClusterCommand *command, const char *text)
{
        if (ald_output_is_standard(command))
                return ald_output_print(command->changes, text);
        if (!command->output || strcmp(command->output, "-") == 0) /* only with --check */
                return ALD_EXIT_OK;
        return ald_output_write_file(command->changes, command->output, text, 0644);
}

int ald_output_check(const AldClusterCommand *command)
{
        ald_fd int folder = -1;
        bool unused;

        if (!command->output || strcmp(command->output, "-") == 0)
                return ALD_EXIT_OK;
        return open_output_folder(command->output, &folder, &unused);
}
