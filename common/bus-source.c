/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/sockios.h>
#include <stdbool.h>
#include <sys/ioctl.h>

#include "common/bus-cleanup.h"
#include "common/bus-source.h"

/* Limits the messages of one turn, so that a flood of them does not starve timers and other sources. */
#define MESSAGES_PER_TURN 16

typedef struct BusSource {
        GSource source;
        sd_bus *bus;
        GPollFD pollfd;
        bool writing;       /* the bus has not read everything */
        int unread;         /* bytes that it had not read at the last check */
        gint64 polled_from; /* CLOCK_MONOTONIC, in µs */
        gint64 stuck;       /* µs of polling in which the bus read nothing; excludes our own work */
        bool may_ask;
        gint64 delay; /* µs; 0: none is wanted */
        gint64 delayed_until;
        AldBusClosed closed;
        gpointer userdata;
} BusSource;

/* Returns 0 if there is something to do without waiting, -1 to wait without end, else milliseconds, rounded
 * up. */
static int milliseconds_left(BusSource *self)
{
        uint64_t until;
        gint64 now;

        if (sd_bus_get_timeout(self->bus, &until) < 0)
                return 0;
        now = g_get_monotonic_time();
        if (self->delayed_until > 0)
                until = MIN(until, (uint64_t) self->delayed_until);
        if (self->writing)
                until = MIN(until, (uint64_t) (now + MAX(ALD_BUS_STUCK_USEC - self->stuck, 0)));
        if (until == UINT64_MAX)
                return -1;
        if (until <= (uint64_t) now)
                return 0;
        return (int) MIN((until - (uint64_t) now + 999) / 1000, G_MAXINT);
}

/* Returns the bytes that we have written and the bus has not read, as far as the kernel reports them. */
static int count_unread(const BusSource *self)
{
        int n;

        return self->pollfd.fd >= 0 && ioctl(self->pollfd.fd, SIOCOUTQ, &n) >= 0 ? n : 0;
}

static void watch_writing(BusSource *self, int events)
{
        self->unread = count_unread(self);
        self->writing = (self->unread > 0 || (events & G_IO_OUT)) &&
                        !(self->may_ask && sd_bus_is_ready(self->bus) <= 0);
        if (!self->writing)
                self->stuck = 0;
        self->polled_from = g_get_monotonic_time();
}

/* Returns whether the bus has read something. Call it before anything more is written, which would hide that.
 */
static bool bus_has_read(const BusSource *self)
{
        return (self->pollfd.revents & G_IO_OUT) || count_unread(self) < self->unread;
}

static bool is_stuck(const BusSource *self)
{
        return self->writing && self->stuck >= ALD_BUS_STUCK_USEC && !bus_has_read(self);
}

/* Polls another fd, as is needed when the bus has several addresses and the first does not answer. GLib keeps
 * its polled fds sorted and aborts if one is changed in place. */
static void watch_fd(BusSource *self, int fd)
{
        if (self->pollfd.fd == fd)
                return;
        if (self->pollfd.fd >= 0)
                g_source_remove_poll(&self->source, &self->pollfd);
        self->pollfd.fd = fd;
        g_source_add_poll(&self->source, &self->pollfd);
}

/* Queries events and timeout in every turn, since they change with every message. */
static gboolean bus_prepare(GSource *source, gint *timeout)
{
        BusSource *self = (BusSource *) source;
        int fd = sd_bus_get_fd(self->bus), events = sd_bus_get_events(self->bus);

        if (fd < 0 || events < 0)
                return TRUE;
        watch_fd(self, fd);
        watch_writing(self, events);
        if (self->delayed_until > g_get_monotonic_time())
                events &= ~G_IO_IN;
        self->pollfd.events = (gushort) events;
        self->pollfd.revents = 0;
        *timeout = milliseconds_left(self);
        return *timeout == 0;
}

static gboolean bus_check(GSource *source)
{
        BusSource *self = (BusSource *) source;
        gint64 now = g_get_monotonic_time();

        self->stuck = !self->writing || bus_has_read(self) ? 0 : self->stuck + now - self->polled_from;
        self->polled_from = now;
        return self->pollfd.revents != 0 || milliseconds_left(self) == 0;
}

/* Processes the messages of one turn. A delay takes effect only once nothing more can be read at once, since
 * before it would only limit how much is read. */
static int process_messages(BusSource *self)
{
        int r = 1;

        self->delayed_until = 0;
        self->delay = 0;
        for (unsigned i = 0; r > 0 && i < MESSAGES_PER_TURN && !g_source_is_destroyed(&self->source); i++)
                r = sd_bus_process(self->bus, NULL);
        if (r == 0 && self->delay > 0)
                self->delayed_until = g_get_monotonic_time() + self->delay;
        return r;
}

static gboolean bus_dispatch(GSource *source, GSourceFunc callback, gpointer userdata)
{
        BusSource *self = (BusSource *) source;
        int r;

        r = is_stuck(self) ? -EBUSY : process_messages(self);
        if (g_source_is_destroyed(source))
                return G_SOURCE_REMOVE;
        if (r >= 0 && sd_bus_is_open(self->bus) > 0)
                return G_SOURCE_CONTINUE;

        self->closed(self->bus, r < 0 ? r : -ECONNRESET, self->userdata);
        return G_SOURCE_REMOVE;
}

void ald_bus_closed_error(int error, sd_bus_error *ret_error)
{
        if (error == -EBUSY)
                (void) sd_bus_error_set(ret_error, SD_BUS_ERROR_DISCONNECTED, "the bus has stopped reading");
        else if (error == -ECONNRESET)
                (void) sd_bus_error_set(
                        ret_error, SD_BUS_ERROR_DISCONNECTED, "the bus closed the connection");
        else
                (void) sd_bus_error_setf(ret_error, SD_BUS_ERROR_DISCONNECTED,
                        "the connection to the bus failed: %s", g_strerror(-error));
}

GSource *ald_bus_source_new(sd_bus *bus, AldBusClosed closed, gpointer userdata)
{
        static GSourceFuncs funcs = { bus_prepare, bus_check, bus_dispatch, NULL, NULL, NULL };
        GSource *source = g_source_new(&funcs, sizeof(BusSource));
        BusSource *self = (BusSource *) source;

        self->bus = bus;
        self->closed = closed;
        self->userdata = userdata;
        self->pollfd.fd = -1;
        g_source_set_name(source, "sd-bus");
        /* No loop runs within a callback, so GLib need not take the fd out of its list during one, which
         * would wake it twice. */
        g_source_set_can_recurse(source, TRUE);
        g_source_attach(source, g_main_context_get_thread_default());
        return source;
}

void ald_bus_source_allow_questions(GSource *source)
{
        ((BusSource *) source)->may_ask = true;
}

void ald_bus_source_delay(GSource *source, unsigned msec)
{
        ((BusSource *) source)->delay = (gint64) msec * 1000;
}

int ald_bus_open_address(const char *address, sd_bus **ret)
{
        g_autoptr(AldBus) bus = NULL;
        int r;

        r = sd_bus_new(&bus);
        if (r >= 0)
                r = sd_bus_set_address(bus, address);
        if (r >= 0)
                r = sd_bus_set_bus_client(bus, true);
        if (r >= 0)
                r = sd_bus_start(bus);
        if (r >= 0)
                *ret = g_steal_pointer(&bus);
        return r;
}
