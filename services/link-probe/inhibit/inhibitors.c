/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <glib-unix.h>
#include <glib.h>

#include "common/fd.h"
#include "services/common/errors.h"
#include "services/common/sysroot.h"
#include "services/link-probe/inhibit/inhibit-what.h"
#include "services/link-probe/inhibit/inhibitors.h"

#define GROUP "Inhibitor"
#define NAME_SIZE 32u

static void format_name(char name[static NAME_SIZE], unsigned number, const char *suffix)
{
        g_snprintf(name, NAME_SIZE, "%u.%s", number, suffix);
}

static void inhibitor_file_remove(int directory, unsigned number)
{
        static const char *const suffixes[] = { "lock", "fifo", "fresh" };
        char name[NAME_SIZE];

        for (size_t i = 0; i < G_N_ELEMENTS(suffixes); i++) {
                format_name(name, number, suffixes[i]);
                (void) unlinkat(directory, name, 0);
        }
}

static void inhibitor_file_clear(AldInhibitorFile *file)
{
        g_clear_pointer(&file->what, g_free);
        g_clear_pointer(&file->who, g_free);
        g_clear_pointer(&file->why, g_free);
}

static char *format_description(const AldInhibitorFile *file)
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
        g_autofree char *text = format_description(file);
        size_t length = strlen(text);
        char name[NAME_SIZE], fresh[NAME_SIZE];
        ald_fd int fd = -1;
        ssize_t n;

        format_name(name, file->number, "lock");
        format_name(fresh, file->number, "fresh");
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

/* Opens both ends of the FIFO, the read side first, since opening for writing fails while there is no
 * reader. */
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

/* Creates both files. *ret_ours is the end to watch, *ret_theirs the end to hand out. */
static int inhibitor_file_create(int directory, const AldInhibitorFile *file, int *ret_ours, int *ret_theirs)
{
        char name[NAME_SIZE];
        int r;

        format_name(name, file->number, "fifo");
        if (mkfifoat(directory, name, 0600) < 0)
                return -errno;
        r = write_description(directory, file);
        if (r >= 0)
                r = open_ends(directory, name, ret_ours, ret_theirs);
        if (r < 0)
                inhibitor_file_remove(directory, file->number);
        return r;
}

/* Opens the read end of a FIFO that still has a writer. Data that its holder may have written is ignored. */
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

static int parse_description(const char *text, AldInhibitorFile *file)
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

/* Reads both files. Returns -ENOLINK if the lock is no longer held, -EBADMSG if it is damaged. */
static int inhibitor_file_open(int directory, unsigned number, AldInhibitorFile *ret, int *ret_ours)
{
        AldInhibitorFile file = { .number = number };
        g_autofree char *text = NULL;
        char name[NAME_SIZE];
        ald_fd int ours = -1;
        int r;

        format_name(name, number, "fifo");
        r = open_held(directory, name, &ours);
        if (r < 0)
                return r;
        format_name(name, number, "lock");
        r = ald_sysroot_read(directory, name, &text);
        if (r >= 0)
                r = parse_description(text, &file);
        if (r < 0) {
                inhibitor_file_clear(&file);
                return r;
        }
        *ret = file;
        *ret_ours = ald_fd_steal(&ours);
        return 0;
}

/* Parses the number in the name of either file; -EINVAL for any other file. */
static int inhibitor_file_number(const char *name, unsigned *ret)
{
        g_auto(GStrv) parts = g_strsplit(name, ".", 2);
        guint64 number;

        if (!parts[0] || !parts[1] || (!g_str_equal(parts[1], "lock") && !g_str_equal(parts[1], "fifo")) ||
                !g_ascii_string_to_unsigned(parts[0], 10, 1, G_MAXINT32, &number, NULL))
                return -EINVAL;
        *ret = (unsigned) number;
        return 0;
}

typedef struct Inhibitor {
        AldInhibitors *all;
        AldInhibitorFile file;
        int fd; /* a hangup shows that the other end is closed everywhere */
        guint source;
} Inhibitor;

struct AldInhibitors {
        int directory; /* -1 if there is none */
        unsigned last; /* the highest number in use */
        GPtrArray *locks;
        void (*changed)(void *userdata);
        void *userdata;
};

static void inhibitor_free(gpointer data)
{
        Inhibitor *inhibitor = data;

        g_clear_handle_id(&inhibitor->source, g_source_remove);
        ald_fd_close(&inhibitor->fd);
        inhibitor_file_clear(&inhibitor->file);
        g_free(inhibitor);
}

static void release_inhibitor(Inhibitor *inhibitor)
{
        AldInhibitors *all = inhibitor->all;

        inhibitor_file_remove(all->directory, inhibitor->file.number);
        g_ptr_array_remove(all->locks, inhibitor);
        all->changed(all->userdata);
}

static gboolean on_hangup(gint fd, GIOCondition condition, gpointer userdata)
{
        Inhibitor *inhibitor = userdata;

        g_info("Lock %u of %s was released", inhibitor->file.number, inhibitor->file.who);
        inhibitor->source = 0;
        release_inhibitor(inhibitor);
        return G_SOURCE_REMOVE;
}

/* Takes ownership of the strings in `file` and of `fd`. */
static void add_inhibitor(AldInhibitors *all, const AldInhibitorFile *file, int fd)
{
        Inhibitor *inhibitor = g_new(Inhibitor, 1);

        *inhibitor = (Inhibitor){ .all = all, .file = *file, .fd = fd };
        /* Input is not watched, so data that a holder writes is left unread. */
        inhibitor->source = g_unix_fd_add(fd, G_IO_HUP | G_IO_ERR, on_hangup, inhibitor);
        all->last = MAX(all->last, file->number);
        g_ptr_array_add(all->locks, inhibitor);
}

static void load_lock(AldInhibitors *all, unsigned number)
{
        AldInhibitorFile file;
        int fd, r;

        r = all->locks->len >= ALD_INHIBITORS_MAX ? -ALD_E_COMMON_LIMIT
                                                  : inhibitor_file_open(all->directory, number, &file, &fd);
        if (r >= 0) {
                add_inhibitor(all, &file, fd);
                return;
        }
        if (r != -ENOLINK)
                g_warning("Ignoring lock %u: %s", number, ald_error_describe(r));
        inhibitor_file_remove(all->directory, number);
}

static bool is_known(const AldInhibitors *all, unsigned number)
{
        for (unsigned i = 0; i < all->locks->len; i++)
                if (ald_inhibitors_at(all, i)->number == number)
                        return true;
        return false;
}

static void load_locks(AldInhibitors *all)
{
        g_auto(GStrv) names = NULL;
        unsigned number;

        if (ald_sysroot_list(all->directory, ".", &names) < 0)
                return;
        for (char **name = names; *name; name++)
                if (inhibitor_file_number(*name, &number) >= 0 && !is_known(all, number))
                        load_lock(all, number);
}

AldInhibitors *ald_inhibitors_new(const char *directory, void (*changed)(void *userdata), void *userdata)
{
        AldInhibitors *all = g_new0(AldInhibitors, 1);

        all->locks = g_ptr_array_new_with_free_func(inhibitor_free);
        all->changed = changed;
        all->userdata = userdata;
        (void) g_mkdir_with_parents(directory, 0700);
        all->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (all->directory >= 0)
                load_locks(all);
        else
                g_warning("%s: %s; probes cannot be inhibited", directory, g_strerror(errno));
        return all;
}

void ald_inhibitors_free(AldInhibitors *all)
{
        if (!all)
                return;
        g_ptr_array_unref(all->locks);
        ald_fd_close(&all->directory);
        g_free(all);
}

static unsigned count_locks_of_user(const AldInhibitors *all, uid_t uid)
{
        unsigned n = 0;

        for (unsigned i = 0; i < all->locks->len; i++)
                n += ald_inhibitors_at(all, i)->uid == uid;
        return n;
}

static unsigned find_free_number(const AldInhibitors *all)
{
        unsigned number = all->last < G_MAXINT32 ? all->last + 1 : 1;

        while (is_known(all, number))
                number++;
        return number;
}

int ald_inhibitors_add(AldInhibitors *all, const AldInhibitorFile *lock, int *ret_fd)
{
        AldInhibitorFile file = *lock;
        int ours = -1, r;

        if (all->directory < 0)
                return -EROFS;
        if (all->locks->len >= ALD_INHIBITORS_MAX)
                return -ALD_E_COMMON_LIMIT;
        if (count_locks_of_user(all, lock->uid) >= ALD_INHIBITORS_PER_USER_MAX)
                return -ALD_E_USER_LIMIT;
        file.number = find_free_number(all);
        r = inhibitor_file_create(all->directory, &file, &ours, ret_fd);
        if (r < 0)
                return r;
        file.what = g_strdup(lock->what);
        file.who = g_strdup(lock->who);
        file.why = g_strdup(lock->why);
        add_inhibitor(all, &file, ours);
        all->changed(all->userdata);
        return 0;
}

int ald_inhibitors_release(AldInhibitors *all, unsigned number)
{
        for (unsigned i = 0; i < all->locks->len; i++)
                if (ald_inhibitors_at(all, i)->number == number) {
                        release_inhibitor(all->locks->pdata[i]);
                        return 0;
                }
        return -ENOENT;
}

unsigned ald_inhibitors_what(const AldInhibitors *all)
{
        unsigned what = 0;

        for (unsigned i = 0; i < all->locks->len; i++)
                what |= (unsigned) ald_inhibit_what_parse(ald_inhibitors_at(all, i)->what);
        return what;
}

const AldInhibitorFile *ald_inhibitors_find(const AldInhibitors *all, unsigned what)
{
        const AldInhibitorFile *oldest = NULL;

        for (unsigned i = 0; i < all->locks->len; i++) {
                const AldInhibitorFile *file = ald_inhibitors_at(all, i);

                if ((unsigned) ald_inhibit_what_parse(file->what) & what &&
                        (!oldest || file->number < oldest->number))
                        oldest = file;
        }
        return oldest;
}

char *ald_inhibitors_reason(const AldInhibitors *all, unsigned what)
{
        const AldInhibitorFile *file = ald_inhibitors_find(all, what);

        return file ? g_strdup_printf("%s: %s", file->who, file->why) : NULL;
}

unsigned ald_inhibitors_count(const AldInhibitors *all)
{
        return all->locks->len;
}

const AldInhibitorFile *ald_inhibitors_at(const AldInhibitors *all, unsigned i)
{
        return &((const Inhibitor *) all->locks->pdata[i])->file;
}
