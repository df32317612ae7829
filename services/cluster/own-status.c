/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "services/cluster/own-status.h"

#define SIGHTINGS_MAX 16u
#define ECHOES_MAX 128u
#define FORMERS_MAX 8u

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
        bool returned_before; /* through an earlier connection */
        unsigned ends;        /* connections in a row that ended before it came back */
} Echo;

struct AldOwnStatus {
        AldId instance, boot;
        AldId other;                /* the last other instance that seemed to live */
        AldId formers[FORMERS_MAX]; /* what our instance was before; the oldest gives way */
        unsigned n_formers;
        uint64_t newest_epoch, newest_conn; /* of what we ever wrote */
        uint64_t contested;                 /* when somebody else was last seen to speak; 0: never */
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

void ald_own_status_renew(AldOwnStatus *own, const AldId *instance)
{
        own->formers[own->n_formers++ % FORMERS_MAX] = own->instance;
        own->instance = *instance;
        own->other = (AldId){ 0 };
        own->n_sightings = 0;
}

char *ald_own_status_write(AldOwnStatus *own, AldPresenceSaid said, uint64_t conn)
{
        own->newest_epoch = MAX(own->newest_epoch, own->epoch);
        own->newest_conn = MAX(own->newest_conn, conn);
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
                echo->returned_before = echo->returned_before || echo->returned;
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

static bool is_former(const AldOwnStatus *own, const AldId *instance)
{
        for (unsigned i = 0; i < MIN(own->n_formers, FORMERS_MAX); i++)
                if (ald_id_equal(&own->formers[i], instance))
                        return true;
        return false;
}

static bool is_sighted(const AldOwnStatus *own, const AldId *instance)
{
        for (unsigned i = 0; i < MIN(own->n_sightings, SIGHTINGS_MAX); i++)
                if (ald_id_equal(&own->sightings[i].instance, instance))
                        return true;
        return false;
}

/* Whether what comes through this connection just now can have nothing to do with a former start of ours. */
static bool is_settled(const AldOwnStatus *own, uint32_t broker, uint64_t conn, uint64_t now)
{
        const Echo *echo = find_echo(own, broker);

        return echo && echo->conn == conn && now - echo->published >= ALD_SETTLED_USEC;
}

/* Another instance spoke where we are, or took our place at the broker between two connections. */
static bool is_contested(const AldOwnStatus *own, const AldStatus *status, uint32_t broker, uint64_t conn,
        bool retained, uint64_t now)
{
        const Echo *echo = find_echo(own, broker);

        if (!retained)
                return status->said != ALD_PRESENCE_SAYS_OFFLINE && is_settled(own, broker, conn, now);
        return echo && echo->returned_before && !is_sighted(own, &status->instance);
}

/* What we never wrote. */
static bool is_forged(const AldOwnStatus *own, const AldStatus *status)
{
        return MAX(status->epoch, status->announced) > own->newest_epoch || status->conn > own->newest_conn;
}

AldOwnFinding ald_own_status_take(AldOwnStatus *own, const AldStatus *status, uint32_t broker, uint64_t conn,
        bool retained, uint64_t now)
{
        bool names_us = ald_id_equal(&status->other, &own->instance);

        if (is_former(own, &status->instance))
                return ALD_OWN_ALONE;
        if (ald_id_equal(&status->instance, &own->instance)) {
                take_echo(own, status, broker, conn);
                if (!is_forged(own, status))
                        return ALD_OWN_ALONE;
                ald_own_status_note_forged(own, now);
                return ALD_OWN_FORGED;
        }
        if (is_contested(own, status, broker, conn, retained, now))
                ald_own_status_note_forged(own, now);
        if (!names_us && !seems_to_live(own, status, broker, retained))
                return ALD_OWN_ALONE;
        own->other = status->instance;
        return names_us ? ALD_OWN_DUPLICATE : ALD_OWN_DOUBTFUL;
}

void ald_own_status_take_record(
        AldOwnStatus *own, uint64_t epoch, uint32_t broker, uint64_t conn, uint64_t now)
{
        if (own->newest_epoch != 0 && epoch > own->newest_epoch && is_settled(own, broker, conn, now))
                ald_own_status_note_forged(own, now);
}

void ald_own_status_note_forged(AldOwnStatus *own, uint64_t now)
{
        own->contested = now;
}

bool ald_own_status_is_contested(const AldOwnStatus *own, uint64_t now)
{
        return own->contested != 0 && now - own->contested < ALD_CONTESTED_USEC;
}
