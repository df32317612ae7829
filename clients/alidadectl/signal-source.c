/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "clients/alidadectl/signal-source.h"

typedef struct SignalSource {
        GSource source;
        int fd;
        void (*arrived)(int signal, void *userdata);
        void *userdata;
} SignalSource;

static gboolean signal_dispatch(GSource *source, GSourceFunc callback, gpointer userdata)
{
        SignalSource *self = (SignalSource *) source;
        struct signalfd_siginfo info;

        while (!g_source_is_destroyed(source) && read(self->fd, &info, sizeof(info)) == sizeof(info))
                self->arrived((int) info.ssi_signo, self->userdata);
        return G_SOURCE_CONTINUE;
}

static void signal_finalize(GSource *source)
{
        (void) close(((SignalSource *) source)->fd);
}

int ald_signal_source_new(
        const int *signals, void (*arrived)(int signal, void *userdata), void *userdata, GSource **ret)
{
        static GSourceFuncs funcs = { NULL, NULL, signal_dispatch, signal_finalize, NULL, NULL };
        SignalSource *self;
        sigset_t set;
        int fd;

        (void) sigemptyset(&set);
        for (; *signals; signals++)
                (void) sigaddset(&set, *signals);
        if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
                return -errno;
        fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        if (fd < 0)
                return -errno;
        self = (SignalSource *) g_source_new(&funcs, sizeof(SignalSource));
        self->fd = fd;
        self->arrived = arrived;
        self->userdata = userdata;
        g_source_add_unix_fd(&self->source, fd, G_IO_IN);
        g_source_attach(&self->source, g_main_context_get_thread_default());
        *ret = &self->source;
        return 0;
}
