/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <glib-unix.h>

#include "common/fd.h"
#include "services/telemetry/gpu/icd-watch.h"

#define VENDORS "/etc/OpenCL/vendors"
#define MASK \
        (IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_ONLYDIR)
#define EVENTS_SIZE 4096u
#define REPEAT_SECONDS 30u

struct AldIcdWatch {
        void (*changed)(void *userdata);
        void *userdata;
        char *vendors; /* the folder */
        char *watched; /* the folder, or its nearest ancestor that exists */
        int fd, descriptor;
        guint events, repeat_source;
};

static gboolean on_repeat(gpointer userdata)
{
        AldIcdWatch *watch = userdata;

        watch->repeat_source = 0;
        watch->changed(watch->userdata);
        return G_SOURCE_REMOVE;
}

/* Watches the folder, or else its nearest ancestor, in which the folder or the next ancestor may appear.
 * Returns whether another folder is watched than before. */
static bool attach_once(AldIcdWatch *watch)
{
        g_autofree char *at = g_strdup(watch->vendors);
        int descriptor;

        while ((descriptor = inotify_add_watch(watch->fd, at, MASK)) < 0 &&
                (errno == ENOENT || errno == ENOTDIR) && strcmp(at, "/") != 0 && strcmp(at, ".") != 0) {
                g_autofree char *below = g_steal_pointer(&at);

                at = g_path_get_dirname(below);
        }
        if (descriptor < 0)
                g_info("Failed to watch %s: %s", at, g_strerror(errno));
        if (descriptor == watch->descriptor)
                return false;
        if (watch->descriptor >= 0)
                (void) inotify_rm_watch(watch->fd, watch->descriptor);
        watch->descriptor = descriptor;
        g_free(watch->watched);
        watch->watched = g_steal_pointer(&at);
        return true;
}

/* Repeats this until nothing changes, since a folder that appeared before its ancestor was watched caused no
 * event. */
static bool attach_to_nearest(AldIcdWatch *watch)
{
        bool moved = false;

        while (attach_once(watch))
                moved = true;
        return moved;
}

static void drop_events(int fd)
{
        _Alignas(struct inotify_event) char buffer[EVENTS_SIZE];

        while (read(fd, buffer, sizeof buffer) > 0)
                ;
}

static gboolean on_events(int fd, GIOCondition condition, gpointer userdata)
{
        AldIcdWatch *watch = userdata;
        bool moved;

        drop_events(fd);
        moved = attach_to_nearest(watch);
        /* Other changes in an ancestor, such as /etc, do not matter. */
        if (!moved && strcmp(watch->watched, watch->vendors) != 0)
                return G_SOURCE_CONTINUE;
        g_clear_handle_id(&watch->repeat_source, g_source_remove);
        watch->repeat_source = g_timeout_add_seconds(REPEAT_SECONDS, on_repeat, watch);
        watch->changed(watch->userdata);
        return G_SOURCE_CONTINUE;
}

AldIcdWatch *ald_icd_watch_new(void (*changed)(void *userdata), void *userdata)
{
        AldIcdWatch *watch = g_new0(AldIcdWatch, 1);

        watch->changed = changed;
        watch->userdata = userdata;
        watch->vendors = g_canonicalize_filename(g_getenv("OCL_ICD_VENDORS") ?: VENDORS, NULL);
        watch->descriptor = -1;
        watch->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        if (watch->fd < 0) {
                g_info("Failed to watch %s: %s", watch->vendors, g_strerror(errno));
                return watch;
        }
        (void) attach_to_nearest(watch);
        watch->events = g_unix_fd_add(watch->fd, G_IO_IN, on_events, watch);
        return watch;
}

void ald_icd_watch_free(AldIcdWatch *watch)
{
        if (!watch)
                return;
        g_clear_handle_id(&watch->events, g_source_remove);
        g_clear_handle_id(&watch->repeat_source, g_source_remove);
        ald_fd_close(&watch->fd);
        g_free(watch->vendors);
        g_free(watch->watched);
        g_free(watch);
}
