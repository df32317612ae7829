/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <sys/pidfd.h>

#include <glib-unix.h>

#include "common/fd.h"
#include "services/common/process.h"
#include "services/link-probe/probe/descendants.h"

/* More than the program has at any time. */
#define DESCENDANTS_MAX 16u

typedef struct Descendant {
        AldDescendants *all;
        AldProcess process;
        guint source; /* 0: it has exited */
} Descendant;

struct AldDescendants {
        Descendant list[DESCENDANTS_MAX];
        unsigned n;
        void (*gone)(void *userdata);
        void *userdata;
};

bool ald_descendants_are_gone(const AldDescendants *descendants)
{
        for (unsigned i = 0; i < descendants->n; i++)
                if (descendants->list[i].source != 0)
                        return false;
        return true;
}

static gboolean on_descendant_end(gint fd, GIOCondition condition, gpointer userdata)
{
        Descendant *descendant = userdata;
        AldDescendants *all = descendant->all;

        descendant->source = 0;
        if (ald_descendants_are_gone(all))
                all->gone(all->userdata);
        return G_SOURCE_REMOVE;
}

static void add_descendant(AldDescendants *all, pid_t pid)
{
        Descendant *descendant = &all->list[all->n];

        *descendant = (Descendant){ .all = all, .process = { .pid = pid, .pidfd = pidfd_open(pid, 0) } };
        /* The process has exited meanwhile. */
        if (descendant->process.pidfd < 0)
                return;
        descendant->source = g_unix_fd_add(descendant->process.pidfd, G_IO_IN, on_descendant_end, descendant);
        all->n++;
}

AldDescendants *ald_descendants_new(pid_t parent, void (*gone)(void *userdata), void *userdata)
{
        AldDescendants *all = g_new0(AldDescendants, 1);
        g_autofree char *path = g_strdup_printf("/proc/%d/task/%d/children", (int) parent, (int) parent);
        g_autofree char *text = NULL;
        g_auto(GStrv) words = NULL;

        all->gone = gone;
        all->userdata = userdata;
        if (!g_file_get_contents(path, &text, NULL, NULL))
                return all;
        words = g_strsplit(text, " ", -1);
        for (char **word = words; *word && all->n < DESCENDANTS_MAX; word++) {
                gint64 pid = g_ascii_strtoll(*word, NULL, 10);

                if (pid > 1 && pid <= G_MAXINT32)
                        add_descendant(all, (pid_t) pid);
        }
        return all;
}

void ald_descendants_kill(const AldDescendants *descendants)
{
        for (unsigned i = 0; i < descendants->n; i++) {
                const AldProcess *process = &descendants->list[i].process;

                (void) pidfd_send_signal(process->pidfd, SIGKILL, NULL, 0);
                if (descendants->list[i].source != 0)
                        ald_process_kill(process);
        }
}

void ald_descendants_free(AldDescendants *descendants)
{
        if (!descendants)
                return;
        for (unsigned i = 0; i < descendants->n; i++) {
                g_clear_handle_id(&descendants->list[i].source, g_source_remove);
                ald_fd_close(&descendants->list[i].process.pidfd);
        }
        g_free(descendants);
}
