/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <glib-unix.h>

#include "common/fd.h"
#include "services/common/sysroot.h"
#include "services/identity/facts-watch.h"

#define MASK (IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR)
#define LINKS_MAX 8u
#define EVENTS_SIZE 4096u

/* The period in which all records are sent again. */
#define REFRESH_SECONDS 30u

struct AldFactsWatch {
        int root;
        AldIdentityManager *manager;
        void (*host_name_changed)(void *userdata);
        void *userdata;
        int host_name_fd, os_release_fd;
        GHashTable *os_release_names; /* base names of the files, in any of the watched folders */
        guint host_name, os_release, refresh;
};

/* Called when the kernel flags the file as exceptional, once for each change. A hang-up means that it is not
 * the kernel's file. */
static gboolean on_host_name(int fd, GIOCondition condition, gpointer userdata)
{
        AldFactsWatch *watch = userdata;

        if (condition & (G_IO_HUP | G_IO_NVAL)) {
                watch->host_name = 0;
                return G_SOURCE_REMOVE;
        }
        if (ald_identity_manager_reload_host_name(watch->manager))
                watch->host_name_changed(watch->userdata);
        return G_SOURCE_CONTINUE;
}

static void watch_host_name(AldFactsWatch *watch)
{
        watch->host_name_fd = ald_sysroot_open_file(watch->root, "proc/sys/kernel/hostname");
        if (watch->host_name_fd >= 0)
                watch->host_name = g_unix_fd_add(watch->host_name_fd, G_IO_PRI, on_host_name, watch);
}

/* Watches a folder. inotify takes a path rather than a descriptor. */
static void add_folder(AldFactsWatch *watch, const char *folder)
{
        ald_fd int fd = openat(watch->root, folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
        char path[64];

        if (fd < 0)
                return;
        g_snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        (void) inotify_add_watch(watch->os_release_fd, path, MASK);
}

/* Watches the folder of a file, and of each link on the way to it. Adding a folder again changes nothing. */
static void add_file(AldFactsWatch *watch, const char *path)
{
        g_autofree char *at = g_strdup(path);

        for (unsigned i = 0; at && i < LINKS_MAX; i++) {
                g_autofree char *folder = g_path_get_dirname(at), *target = NULL;

                (void) ald_sysroot_link_target(watch->root, at, &target);
                add_folder(watch, folder);
                g_hash_table_add(watch->os_release_names, g_path_get_basename(at));
                g_free(at);
                at = !target || g_path_is_absolute(target) ? g_steal_pointer(&target)
                                                           : g_build_filename(folder, target, NULL);
        }
}

/* Watches the files, also where their links lead by now. */
static void add_files(AldFactsWatch *watch)
{
        add_file(watch, "etc/os-release");
        add_file(watch, "usr/lib/os-release");
}

/* Returns whether one of the events is about such a file. The next refresh makes up for a missed event. */
static bool read_events(AldFactsWatch *watch)
{
        _Alignas(struct inotify_event) char buffer[EVENTS_SIZE];
        bool found = false;
        ssize_t n;

        while ((n = read(watch->os_release_fd, buffer, sizeof buffer)) > 0)
                for (const char *at = buffer; at < buffer + n;) {
                        const struct inotify_event *event = (const void *) at;

                        found |= (event->mask & IN_Q_OVERFLOW) ||
                                 (event->len > 0 &&
                                         g_hash_table_contains(watch->os_release_names, event->name));
                        at += sizeof *event + event->len;
                }
        return found;
}

static gboolean on_os_release(int fd, GIOCondition condition, gpointer userdata)
{
        AldFactsWatch *watch = userdata;

        if (!read_events(watch))
                return G_SOURCE_CONTINUE;
        add_files(watch);
        (void) ald_identity_manager_refresh(watch->manager);
        return G_SOURCE_CONTINUE;
}

/* Watches the folders of os-release, since an upgrade replaces the file, or the link to it. */
static void watch_os_release(AldFactsWatch *watch)
{
        watch->os_release_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        if (watch->os_release_fd < 0) {
                g_info("Failed to watch os-release: %s", g_strerror(errno));
                return;
        }
        add_files(watch);
        watch->os_release = g_unix_fd_add(watch->os_release_fd, G_IO_IN, on_os_release, watch);
}

static gboolean on_refresh(gpointer userdata)
{
        AldFactsWatch *watch = userdata;

        (void) ald_identity_manager_refresh(watch->manager);
        return G_SOURCE_CONTINUE;
}

AldFactsWatch *ald_facts_watch_new(
        int root, AldIdentityManager *manager, void (*host_name_changed)(void *userdata), void *userdata)
{
        AldFactsWatch *watch = g_new0(AldFactsWatch, 1);

        watch->root = root;
        watch->manager = manager;
        watch->host_name_changed = host_name_changed;
        watch->userdata = userdata;
        watch->os_release_names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        watch_host_name(watch);
        watch_os_release(watch);
        watch->refresh = g_timeout_add_seconds(REFRESH_SECONDS, on_refresh, watch);
        return watch;
}

void ald_facts_watch_free(AldFactsWatch *watch)
{
        if (!watch)
                return;
        g_clear_handle_id(&watch->host_name, g_source_remove);
        g_clear_handle_id(&watch->os_release, g_source_remove);
        g_clear_handle_id(&watch->refresh, g_source_remove);
        ald_fd_close(&watch->host_name_fd);
        ald_fd_close(&watch->os_release_fd);
        g_hash_table_unref(watch->os_release_names);
        g_free(watch);
}
