/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/placement/state-reading-bus.h"
#include "state-client/follow.h"

struct AldStateReading {
        AldFollow *follow;
        AldStateRead ended;
        void *userdata;
};

static void on_synced(AldFollow *follow, void *userdata)
{
        const AldStateReading *reading = userdata;

        reading->ended(NULL, reading->userdata);
}

static void on_lost(AldFollow *follow, const sd_bus_error *error, void *userdata)
{
        const AldStateReading *reading = userdata;

        reading->ended(error && error->message ? error->message : "it has left the bus", reading->userdata);
}

int ald_state_reading_new(
        AldService *service, AldModel *model, AldStateRead ended, void *userdata, AldStateReading **ret)
{
        static const AldFollowHandler handler = { .synced = on_synced, .lost = on_lost };
        AldStateReading *reading = g_new0(AldStateReading, 1);
        int r;

        reading->ended = ended;
        reading->userdata = userdata;
        r = ald_follow_new(ald_service_bus(service), model, &handler, reading, &reading->follow);
        if (r < 0) {
                g_free(reading);
                return r;
        }
        *ret = reading;
        return 0;
}

void ald_state_reading_free(AldStateReading *reading)
{
        if (!reading)
                return;
        ald_follow_free(reading->follow);
        g_free(reading);
}
