/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <glib-unix.h>

#include "common/fd.h"
#include "services/common/errors.h"
#include "services/common/sysroot.h"
#include "services/link-probe/inhibit/inhibitors.h"

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
        ald_inhibitor_file_clear(&inhibitor->file);
        g_free(inhibitor);
}

static void end(Inhibitor *inhibitor)
{
        AldInhibitors *all = inhibitor->all;

        ald_inhibitor_file_remove(all->directory, inhibitor->file.number);
        g_ptr_array_remove(all->locks, inhibitor);
        all->changed(all->userdata);
}

static gboolean on_hangup(gint fd, GIOCondition condition, gpointer userdata)
{
        Inhibitor *inhibitor = userdata;

        g_info("Lock %u of %s was released", inhibitor->file.number, inhibitor->file.who);
        inhibitor->source = 0;
        end(inhibitor);
        return G_SOURCE_REMOVE;
}

/* Takes ownership of the strings of the file and of its end. */
static void watch(AldInhibitors *all, const AldInhibitorFile *file, int fd)
{
        Inhibitor *inhibitor = g_new(Inhibitor, 1);

        *inhibitor = (Inhibitor){ .all = all, .file = *file, .fd = fd };
        /* Not for input: data that a holder writes is left unread. */
        inhibitor->source = g_unix_fd_add(fd, G_IO_HUP | G_IO_ERR, on_hangup, inhibitor);
        all->last = MAX(all->last, file->number);
        g_ptr_array_add(all->locks, inhibitor);
}

static void load_one(AldInhibitors *all, unsigned number)
{
        AldInhibitorFile file;
        int fd, r;

        r = all->locks->len >= ALD_INHIBITORS_MAX
                    ? -ALD_E_COMMON_LIMIT
                    : ald_inhibitor_file_open(all->directory, number, &file, &fd);
        if (r >= 0) {
                watch(all, &file, fd);
                return;
        }
        if (r != -ENOLINK)
                g_warning("Ignoring lock %u: %s", number, ald_error_describe(r));
        ald_inhibitor_file_remove(all->directory, number);
}

static bool is_known(const AldInhibitors *all, unsigned number)
{
        for (unsigned i = 0; i < all->locks->len; i++)
                if (ald_inhibitors_at(all, i)->number == number)
                        return true;
        return false;
}

static void load(AldInhibitors *all)
{
        g_auto(GStrv) names = NULL;
        unsigned number;

        if (ald_sysroot_list(all->directory, ".", &names) < 0)
                return;
        for (char **name = names; *name; name++)
                if (ald_inhibitor_file_number(*name, &number) >= 0 && !is_known(all, number))
                        load_one(all, number);
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
                load(all);
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

static unsigned count_of(const AldInhibitors *all, uid_t uid)
{
        unsigned n = 0;

        for (unsigned i = 0; i < all->locks->len; i++)
                n += ald_inhibitors_at(all, i)->uid == uid;
        return n;
}

static unsigned free_number(const AldInhibitors *all)
{
        unsigned number = all->last < G_MAXINT32 ? all->last + 1 : 1;

        while (is_known(all, number))
                number++;
        return number;
}

int ald_inhibitors_add(AldInhibitors *all, const AldInhibitorFile *lock, int *ret_fd)
{
        AldInhibitorFile file = *lock;
        int ours, r;

        if (all->directory < 0)
                return -EROFS;
        if (all->locks->len >= ALD_INHIBITORS_MAX)
                return -ALD_E_COMMON_LIMIT;
        if (count_of(all, lock->uid) >= ALD_INHIBITORS_PER_USER_MAX)
                return -ALD_E_USER_LIMIT;
        file.number = free_number(all);
        r = ald_inhibitor_file_create(all->directory, &file, &ours, ret_fd);
        if (r < 0)
                return r;
        file.what = g_strdup(lock->what);
        file.who = g_strdup(lock->who);
        file.why = g_strdup(lock->why);
        watch(all, &file, ours);
        all->changed(all->userdata);
        return 0;
}

int ald_inhibitors_release(AldInhibitors *all, unsigned number)
{
        for (unsigned i = 0; i < all->locks->len; i++)
                if (ald_inhibitors_at(all, i)->number == number) {
                        end(all->locks->pdata[i]);
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
