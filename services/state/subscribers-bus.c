/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <glib.h>

#include "services/state/subscribers-bus.h"

/* Each costs a match rule, of which the bus grants 512 to a connection. */
#define SUBSCRIBERS_MAX 256u

struct AldSubscribers {
        sd_bus *bus;
        sd_bus_track *track; /* only while there is somebody: an empty one calls its handler in every turn */
        AldSubscribersChanged changed;
        void *userdata;
};

static int on_empty(sd_bus_track *track, void *userdata)
{
        AldSubscribers *subscribers = userdata;

        subscribers->track = sd_bus_track_unref(subscribers->track);
        subscribers->changed(false, subscribers->userdata);
        return 0;
}

AldSubscribers *ald_subscribers_new(sd_bus *bus, AldSubscribersChanged changed, void *userdata)
{
        AldSubscribers *subscribers = g_new0(AldSubscribers, 1);

        subscribers->bus = bus;
        subscribers->changed = changed;
        subscribers->userdata = userdata;
        return subscribers;
}

void ald_subscribers_free(AldSubscribers *subscribers)
{
        if (!subscribers)
                return;
        sd_bus_track_unref(subscribers->track);
        g_free(subscribers);
}

int ald_subscribers_add(AldSubscribers *subscribers, sd_bus_message *message)
{
        int r;

        if (!subscribers->track) {
                r = sd_bus_track_new(subscribers->bus, &subscribers->track, on_empty, subscribers);
                if (r < 0)
                        return r;
        }
        if (sd_bus_track_count_sender(subscribers->track, message) > 0)
                return 0;
        if (sd_bus_track_count(subscribers->track) >= SUBSCRIBERS_MAX)
                return -ENOSPC;
        r = sd_bus_track_add_sender(subscribers->track, message);
        if (r < 0)
                return r;
        subscribers->changed(true, subscribers->userdata);
        return 0;
}

int ald_subscribers_remove(AldSubscribers *subscribers, sd_bus_message *message)
{
        int r = subscribers->track ? sd_bus_track_remove_sender(subscribers->track, message) : 0;

        return r > 0 ? 0 : r == 0 ? -ENOENT : r;
}
