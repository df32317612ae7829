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

/* What was published at a broker. */
typedef struct Echo {
        uint32_t broker;
        uint64_t conn;      /* 0: the connection has ended */
        uint64_t published; /* through that connection */
        bool returned;
        unsigned ends; /* connections in a row that ended before it came back */
} Echo;

struct AldOwnStatus {
        AldId instance, boot;
        AldId other; /* the last other instance that seemed to live */
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
                .other = own->other,
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

void ald_own_status_go_back(AldOwnStatus *own)
{
        own->epoch = own->announced = 0;
}

bool ald_own_status_announce(AldOwnStatus *own, uint64_t now)
{
        if (own->epoch == 0 || own->announced == own->epoch || now - own->epoch_since < ALD_ANNOUNCE_USEC)
                return false;
        own->announced = own->epoch;
        return true;
}

static Echo *find_echo(const AldOwnStatus *own, uint32_t broker)
{
        for (guint i = 0; i < own->echoes->len; i++) {
                Echo *echo = &g_array_index(own->echoes, Echo, i);
                if (echo->broker == broker)
                        return echo;
        }
        return NULL;
}

/* Where there are too many, one makes way that is not connected. */
static Echo *get_echo(AldOwnStatus *own, uint32_t broker)
{
        const Echo fresh = { .broker = broker };
        Echo *echo = find_echo(own, broker);

        if (echo)
                return echo;
        if (own->echoes->len < ECHOES_MAX) {
                g_array_append_val(own->echoes, fresh);
                return find_echo(own, broker);
        }
        for (guint i = 0; i < own->echoes->len; i++) {
                echo = &g_array_index(own->echoes, Echo, i);
                if (echo->conn == 0) {
                        *echo = fresh;
                        return echo;
                }
        }
        return NULL;
}

void ald_own_status_published(AldOwnStatus *own, uint32_t broker, uint64_t conn, uint64_t now)
{
        Echo *echo = get_echo(own, broker);

        if (!echo || echo->conn == conn)
                return;
        echo->conn = conn;
        echo->published = now;
        echo->returned = false;
}

void ald_own_status_disconnected(AldOwnStatus *own, uint64_t conn)
{
        for (guint i = 0; i < own->echoes->len; i++) {
                Echo *echo = &g_array_index(own->echoes, Echo, i);

                if (echo->conn != conn)
                        continue;
                echo->conn = 0;
                echo->ends = echo->returned ? 0 : echo->ends + 1;
        }
}

static bool is_waiting(const Echo *echo)
{
        return echo->conn != 0 && !echo->returned;
}

bool ald_own_status_is_lost(const AldOwnStatus *own, uint32_t broker, uint64_t now)
{
        const Echo *echo = find_echo(own, broker);

        if (!echo)
                return false;
        return echo->ends >= ALD_ENDS_MAX || (is_waiting(echo) && now - echo->published >= ALD_ECHO_USEC);
}

uint64_t ald_own_status_due(const AldOwnStatus *own, uint64_t now)
{
        uint64_t due = UINT64_MAX;

        if (own->epoch != 0 && own->announced != own->epoch)
                due = own->epoch_since + ALD_ANNOUNCE_USEC;
        for (guint i = 0; i < own->echoes->len; i++) {
                const Echo *echo = &g_array_index(own->echoes, Echo, i);
                if (is_waiting(echo) && echo->published + ALD_ECHO_USEC > now)
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

static bool seems_to_live(AldOwnStatus *own, const AldStatus *status, uint32_t broker, bool retained)
{
        if (find_sighting(own, status, broker)->conn < status->conn)
                return true;
        return !retained && status->said != ALD_PRESENCE_SAYS_OFFLINE;
}

static void take_echo(AldOwnStatus *own, const AldStatus *status, uint32_t broker, uint64_t conn)
{
        Echo *echo = find_echo(own, broker);

        if (!echo || echo->conn != conn || status->conn != conn)
                return;
        echo->returned = true;
        echo->ends = 0;
}

AldOwnFinding ald_own_status_take(
        AldOwnStatus *own, const AldStatus *status, uint32_t broker, uint64_t conn, bool retained)
{
        bool names_us = ald_id_equal(&status->other, &own->instance);

        if (ald_id_equal(&status->instance, &own->instance)) {
                take_echo(own, status, broker, conn);
                return ALD_OWN_ALONE;
        }
        if (!names_us && !seems_to_live(own, status, broker, retained))
                return ALD_OWN_ALONE;
        own->other = status->instance;
        return names_us ? ALD_OWN_DUPLICATE : ALD_OWN_DOUBTFUL;
}
