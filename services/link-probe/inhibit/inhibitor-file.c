/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fd.h"
#include "services/common/sysroot.h"
#include "services/link-probe/inhibit/inhibit-what.h"
#include "services/link-probe/inhibit/inhibitor-file.h"

#define GROUP "Inhibitor"
#define NAME_SIZE 32u

static void name_of(char name[static NAME_SIZE], unsigned number, const char *suffix)
{
        g_snprintf(name, NAME_SIZE, "%u.%s", number, suffix);
}

void ald_inhibitor_file_clear(AldInhibitorFile *file)
{
        g_clear_pointer(&file->what, g_free);
        g_clear_pointer(&file->who, g_free);
        g_clear_pointer(&file->why, g_free);
}

static char *describe(const AldInhibitorFile *file)
{
        g_autoptr(GKeyFile) keys = g_key_file_new();

        g_key_file_set_string(keys, GROUP, "What", file->what);
        g_key_file_set_string(keys, GROUP, "Who", file->who);
        g_key_file_set_string(keys, GROUP, "Why", file->why);
        g_key_file_set_uint64(keys, GROUP, "Uid", file->uid);
        g_key_file_set_uint64(keys, GROUP, "Pid", (uint64_t) file->pid);
        return g_key_file_to_data(keys, NULL, NULL);
}

static int write_description(int directory, const AldInhibitorFile *file)
{
        g_autofree char *text = describe(file);
        size_t length = strlen(text);
        char name[NAME_SIZE], fresh[NAME_SIZE];
        ald_fd int fd = -1;
        ssize_t n;

        name_of(name, file->number, "lock");
        name_of(fresh, file->number, "fresh");
        fd = openat(directory, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return -errno;
        n = write(fd, text, length);
        if (n == (ssize_t) length && renameat(directory, fresh, directory, name) >= 0)
                return 0;
        n = n >= 0 && n < (ssize_t) length ? -ENOSPC : -errno;
        unlinkat(directory, fresh, 0);
        return (int) n;
}

/* Read side first: opening a FIFO for writing blocks while it has no reader. */
static int open_ends(int directory, const char *name, int *ret_ours, int *ret_theirs)
{
        ald_fd int ours = openat(directory, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
        int theirs;

        if (ours < 0)
                return -errno;
        theirs = openat(directory, name, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
        if (theirs < 0)
                return -errno;
        *ret_ours = ald_fd_steal(&ours);
        *ret_theirs = theirs;
        return 0;
}

int ald_inhibitor_file_create(int directory, const AldInhibitorFile *file, int *ret_ours, int *ret_theirs)
{
        char name[NAME_SIZE];
        int r;

        name_of(name, file->number, "fifo");
        if (mkfifoat(directory, name, 0600) < 0)
                return -errno;
        r = write_description(directory, file);
        if (r >= 0)
                r = open_ends(directory, name, ret_ours, ret_theirs);
        if (r < 0)
                ald_inhibitor_file_remove(directory, file->number);
        return r;
}

/* Reading detects a FIFO without writers; data that its holder may have written is ignored. */
static int open_held(int directory, const char *name, int *ret)
{
        ald_fd int fd = openat(directory, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
        struct stat st;
        char byte;

        if (fd < 0)
                return -errno;
        if (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode))
                return -EBADMSG;
        if (read(fd, &byte, sizeof byte) == 0)
                return -ENOLINK;
        *ret = ald_fd_steal(&fd);
        return 0;
}

static int parse(const char *text, AldInhibitorFile *file)
{
        g_autoptr(GKeyFile) keys = g_key_file_new();
        uint64_t uid, pid;

        if (!g_key_file_load_from_data(keys, text, strlen(text), G_KEY_FILE_NONE, NULL))
                return -EBADMSG;
        file->what = g_key_file_get_string(keys, GROUP, "What", NULL);
        file->who = g_key_file_get_string(keys, GROUP, "Who", NULL);
        file->why = g_key_file_get_string(keys, GROUP, "Why", NULL);
        uid = g_key_file_get_uint64(keys, GROUP, "Uid", NULL);
        pid = g_key_file_get_uint64(keys, GROUP, "Pid", NULL);
        if (!file->what || ald_inhibit_what_parse(file->what) < 0 || !file->who ||
                !ald_inhibit_text_ok(file->who) || !file->why || !ald_inhibit_text_ok(file->why) ||
                uid > UINT32_MAX || pid > INT32_MAX)
                return -EBADMSG;
        file->uid = (uid_t) uid;
        file->pid = (pid_t) pid;
        return 0;
}

int ald_inhibitor_file_open(int directory, unsigned number, AldInhibitorFile *ret, int *ret_ours)
{
        AldInhibitorFile file = { .number = number };
        g_autofree char *text = NULL;
        char name[NAME_SIZE];
        ald_fd int ours = -1;
        int r;

        name_of(name, number, "fifo");
        r = open_held(directory, name, &ours);
        if (r < 0)
                return r;
        name_of(name, number, "lock");
        r = ald_sysroot_read(directory, name, &text);
        if (r >= 0)
                r = parse(text, &file);
        if (r < 0) {
                ald_inhibitor_file_clear(&file);
                return r;
        }
        *ret = file;
        *ret_ours = ald_fd_steal(&ours);
        return 0;
}

void ald_inhibitor_file_remove(int directory, unsigned number)
{
        static const char *const suffixes[] = { "lock", "fifo", "fresh" };
        char name[NAME_SIZE];

        for (size_t i = 0; i < G_N_ELEMENTS(suffixes); i++) {
                name_of(name, number, suffixes[i]);
                (void) unlinkat(directory, name, 0);
        }
}

int ald_inhibitor_file_number(const char *name, unsigned *ret)
{
        g_auto(GStrv) parts = g_strsplit(name, ".", 2);
        guint64 number;

        if (!parts[0] || !parts[1] || (!g_str_equal(parts[1], "lock") && !g_str_equal(parts[1], "fifo")) ||
                !g_ascii_string_to_unsigned(parts[0], 10, 1, G_MAXINT32, &number, NULL))
                return -EINVAL;
        *ret = (unsigned) number;
        return 0;
}
