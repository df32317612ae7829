/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "services/cluster/own-status.h"

#define SIGHTINGS_MAX 16u
#define ECHOES_MAX 128u

/* Another instance of our id, as first seen at a broker. */
typedef struct Sighting {
        AldId instance;
        uint32_t broker;
        uint64_t conn;
} Sighting;

typedef struct Echo {
        uint64_t conn;
        uint64_t published;
        bool returned;
} Echo;

struct AldOwnStatus {
        AldId instance, boot;
        uint64_t epoch, epoch_since, announced;
        Sighting sightings[SIGHTINGS_MAX];
        unsigned n_sightings;
        GArray *echoes;
};

AldOwnStatus *ald_own_status_new(const AldId *instance, const AldId *boot)
{
        AldOwnStatus *own = g_new0(AldOwnStatus, 1);

        own->instance = *instance;
        own->boot = *boot;
        own->echoes = g_array_new(FALSE, FALSE, sizeof(Echo));
        return own;
}

void ald_own_status_free(AldOwnStatus *own)
{
        if (!own)
                return;
        g_array_unref(own->echoes);
        g_free(own);
}

const AldId *ald_own_status_instance(const AldOwnStatus *own)
{
        return &own->instance;
}

char *ald_own_status_write(const AldOwnStatus *own, AldPresenceSaid said, uint64_t conn)
{
        const AldStatus status = {
                .said = said,
                .epoch = own->epoch,
                .conn = conn,
                .instance = own->instance,
                .boot = own->boot,
                .announced = own->announced,
        };

        return ald_payload_write_status(&status);
}

bool ald_own_status_set_epoch(AldOwnStatus *own, uint64_t epoch, uint64_t now)
{
        if (epoch == own->epoch)
                return false;
        own->epoch = epoch;
        own->epoch_since = now;
        return true;
}

uint64_t ald_own_status_epoch(const AldOwnStatus *own)
{
        return own->epoch;
}

bool ald_own_status_announce(AldOwnStatus *own, uint64_t now)
{
        if (own->epoch == 0 || own->announced == own->epoch || now - own->epoch_since < ALD_ANNOUNCE_USEC)
                return false;
        own->announced = own->epoch;
        return true;
}

static Echo *find_echo(const AldOwnStatus *own, uint64_t conn)
{
        for (guint i = 0; i < own->echoes->len; i++) {
                Echo *echo = &g_array_index(own->echoes, Echo, i);
                if (echo->conn == conn)
                        return echo;
        }
        return NULL;
}

void ald_own_status_published(AldOwnStatus *own, uint64_t conn, uint64_t now)
{
        const Echo echo = { .conn = conn, .published = now };

        if (!find_echo(own, conn) && own->echoes->len < ECHOES_MAX)
                g_array_append_val(own->echoes, echo);
}

void ald_own_status_disconnected(AldOwnStatus *own, uint64_t conn)
{
        const Echo *echo = find_echo(own, conn);

        if (echo)
                g_array_remove_index_fast(own->echoes, (guint) (echo - (const Echo *) own->echoes->data));
}

bool ald_own_status_is_lost(const AldOwnStatus *own, uint64_t conn, uint64_t now)
{
        const Echo *echo = find_echo(own, conn);

        return echo && !echo->returned && now - echo->published >= ALD_ECHO_USEC;
}

uint64_t ald_own_status_due(const AldOwnStatus *own, uint64_t now)
{
        uint64_t due = UINT64_MAX;

        if (own->epoch != 0 && own->announced != own->epoch)
                due = own->epoch_since + ALD_ANNOUNCE_USEC;
        for (guint i = 0; i < own->echoes->len; i++) {
                const Echo *echo = &g_array_index(own->echoes, Echo, i);
                if (!echo->returned && echo->published + ALD_ECHO_USEC > now)
                        due = MIN(due, echo->published + ALD_ECHO_USEC);
        }
        return due;
}

/* The first sighting is kept, the oldest gives way. */
static Sighting *find_sighting(AldOwnStatus *own, const AldStatus *status, uint32_t broker)
{
        Sighting *sighting;

        for (unsigned i = 0; i < MIN(own->n_sightings, SIGHTINGS_MAX); i++) {
                sighting = &own->sightings[i];
                if (sighting->broker == broker && ald_id_equal(&sighting->instance, &status->instance))
                        return sighting;
        }
        sighting = &own->sightings[own->n_sightings++ % SIGHTINGS_MAX];
        *sighting = (Sighting){ status->instance, broker, status->conn };
        return sighting;
}

bool ald_own_status_take(
        AldOwnStatus *own, const AldStatus *status, uint32_t broker, uint64_t conn, bool retained)
{
        Echo *echo;

        if (ald_id_equal(&status->instance, &own->instance)) {
                echo = find_echo(own, conn);
                if (echo && status->conn == conn)
                        echo->returned = true;
                return false;
        }
        if (find_sighting(own, status, broker)->conn < status->conn)
                return true;
        return !retained && status->said != ALD_PRESENCE_SAYS_OFFLINE;
}
