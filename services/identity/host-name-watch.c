/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib-unix.h>

#include "common/fd.h"
#include "services/common/sysroot.h"
#include "services/identity/host-name-watch.h"

typedef struct Watch {
        int fd;
        void (*changed)(gpointer userdata);
        gpointer userdata;
} Watch;

static void watch_free(gpointer data)
{
        Watch *watch = data;

        ald_fd_close(&watch->fd);
        g_free(watch);
}

/* The kernel flags the file as exceptional once for each change; a hang-up means that it is not the kernel's.
 */
static gboolean on_event(int fd, GIOCondition condition, gpointer userdata)
{
        Watch *watch = userdata;

        if (condition & (G_IO_HUP | G_IO_NVAL))
                return G_SOURCE_REMOVE;
        watch->changed(watch->userdata);
        return G_SOURCE_CONTINUE;
}

guint ald_host_name_watch(int root, void (*changed)(gpointer userdata), gpointer userdata)
{
        ald_fd int fd = ald_sysroot_open_file(root, "proc/sys/kernel/hostname");
        Watch *watch;

        if (fd < 0)
                return 0;
        watch = g_new(Watch, 1);
        *watch = (Watch){ .fd = ald_fd_steal(&fd), .changed = changed, .userdata = userdata };
        return g_unix_fd_add_full(G_PRIORITY_DEFAULT, watch->fd, G_IO_PRI, on_event, watch, watch_free);
}
