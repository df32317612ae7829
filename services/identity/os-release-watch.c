/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <glib-unix.h>

#include "common/fd.h"
#include "services/identity/os-release-watch.h"

#define MASK (IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR)
#define LINKS_MAX 8u
#define EVENTS_SIZE 4096u

typedef struct Watch {
        int root, fd;
        GHashTable *names; /* of files, in whichever of the folders */
        void (*changed)(gpointer userdata);
        gpointer userdata;
} Watch;

static void watch_free(gpointer data)
{
        Watch *watch = data;

        ald_fd_close(&watch->fd);
        g_hash_table_unref(watch->names);
        g_free(watch);
}

/* inotify takes no descriptor of a folder, but the path to one. */
static void add_folder(Watch *watch, const char *folder)
{
        ald_fd int fd = openat(watch->root, folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
        char path[64];

        if (fd < 0)
                return;
        g_snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        (void) inotify_add_watch(watch->fd, path, MASK);
}

static char *read_link(int root, const char *path)
{
        char target[PATH_MAX];
        ssize_t n = readlinkat(root, path, target, sizeof target - 1);

        if (n <= 0)
                return NULL;
        target[n] = '\0';
        return g_strdup(target);
}

/* The file, and each that it is a link to. To add a folder again changes nothing. */
static void add_file(Watch *watch, const char *path)
{
        g_autofree char *at = g_strdup(path);

        for (unsigned i = 0; at && i < LINKS_MAX; i++) {
                g_autofree char *folder = g_path_get_dirname(at), *target = read_link(watch->root, at);

                add_folder(watch, folder);
                g_hash_table_add(watch->names, g_path_get_basename(at));
                g_free(at);
                at = !target || g_path_is_absolute(target) ? g_steal_pointer(&target)
                                                           : g_build_filename(folder, target, NULL);
        }
}

/* Links may lead elsewhere by now. */
static void add_files(Watch *watch)
{
        add_file(watch, "etc/os-release");
        add_file(watch, "usr/lib/os-release");
}

/* Whether one of the events is of such a file; a missed event is caught by the next refresh. */
static bool read_events(Watch *watch)
{
        _Alignas(struct inotify_event) char buffer[EVENTS_SIZE];
        bool found = false;
        ssize_t n;

        while ((n = read(watch->fd, buffer, sizeof buffer)) > 0)
                for (const char *at = buffer; at < buffer + n;) {
                        const struct inotify_event *event = (const void *) at;

                        found |= (event->mask & IN_Q_OVERFLOW) ||
                                 (event->len > 0 && g_hash_table_contains(watch->names, event->name));
                        at += sizeof *event + event->len;
                }
        return found;
}

static gboolean on_events(int fd, GIOCondition condition, gpointer userdata)
{
        Watch *watch = userdata;

        if (!read_events(watch))
                return G_SOURCE_CONTINUE;
        add_files(watch);
        watch->changed(watch->userdata);
        return G_SOURCE_CONTINUE;
}

guint ald_os_release_watch(int root, void (*changed)(gpointer userdata), gpointer userdata)
{
        ald_fd int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        Watch *watch;

        if (fd < 0) {
                g_info("Failed to watch os-release: %s", g_strerror(errno));
                return 0;
        }
        watch = g_new(Watch, 1);
        *watch = (Watch){
                .root = root,
                .fd = ald_fd_steal(&fd),
                .names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                .changed = changed,
                .userdata = userdata,
        };
        add_files(watch);
        return g_unix_fd_add_full(G_PRIORITY_DEFAULT, watch->fd, G_IO_IN, on_events, watch, watch_free);
}
