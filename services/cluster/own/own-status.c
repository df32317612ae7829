/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <systemd/sd-id128.h>

#include "record/message.h"
#include "services/cluster/own/own-status.h"

#define SIGHTINGS_MAX 16u
#define ECHOES_MAX 128u
#define FORMERS_MAX 8u

typedef struct IdText {
        char text[ALD_ID_STRING_SIZE]; /* "" for none */
} IdText;

/* Another instance of our id, as first seen at a broker. */
typedef struct Sighting {
        IdText instance;
        uint32_t broker;
        uint64_t conn;
} Sighting;

/* Our status at a broker, and whether it came back. */
typedef struct Echo {
        uint32_t broker;
        uint64_t conn;      /* 0: the connection has ended */
        uint64_t published; /* through that connection */
        bool returned;
        bool returned_before; /* through an earlier connection */
        unsigned ends;        /* connections in a row that ended before it came back */
} Echo;

struct AldOwnStatus {
        IdText instance, boot;
        IdText other;                /* the other instance that last seemed to be alive */
        IdText formers[FORMERS_MAX]; /* our former instances; a new one replaces the oldest */
        unsigned n_formers;
        uint64_t newest_epoch, newest_connection; /* the greatest that we ever wrote */
        uint64_t contested; /* when someone else was last seen to use our id; 0: never */
        uint64_t epoch, epoch_since;
        uint64_t announced; /* or ALD_ABSENT_UINT64 */
        Sighting sightings[SIGHTINGS_MAX];
        unsigned n_sightings;
        GArray *echoes;
};

static IdText format_id(const AldId *id)
{
        static const AldId none = { 0 };
        IdText ret = { "" };

        if (!ald_id_equal(id, &none))
                ald_id_format(id, ret.text);
        return ret;
}

/* Ids have only one spelling, and were checked when they were read. */
static IdText copy_id(const char *text)
{
        IdText ret = { "" };

        g_strlcpy(ret.text, text, sizeof ret.text);
        return ret;
}

static const char *id_or_null(const IdText *id)
{
        return *id->text ? id->text : NULL;
}

int ald_own_status_make_instance(AldId *ret)
{
        sd_id128_t random;
        int r = sd_id128_randomize(&random);

        if (r >= 0)
                memcpy(ret->bytes, random.bytes, sizeof ret->bytes);
        return r;
}

AldOwnStatus *ald_own_status_new(const AldId *instance, const AldId *boot)
{
        AldOwnStatus *own = g_new0(AldOwnStatus, 1);

        own->instance = format_id(instance);
        own->boot = format_id(boot);
        own->announced = ALD_ABSENT_UINT64;
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

const char *ald_own_status_instance(const AldOwnStatus *own)
{
        return own->instance.text;
}

void ald_own_status_renew(AldOwnStatus *own, const AldId *instance)
{
        own->formers[own->n_formers++ % FORMERS_MAX] = own->instance;
        own->instance = format_id(instance);
        own->other = (IdText){ "" };
        own->n_sightings = 0;
}

char *ald_own_status_write(AldOwnStatus *own, AldNodeStatusState state, uint64_t connection)
{
        own->newest_epoch = MAX(own->newest_epoch, own->epoch);
        own->newest_connection = MAX(own->newest_connection, connection);
        const AldNodeStatus status = {
                .state = ald_node_status_state_to_string(state),
                .epoch = own->epoch,
                .connection = connection,
                .instance = own->instance.text,
                .boot = id_or_null(&own->boot),
                .announced_epoch = own->announced,
                .other = id_or_null(&own->other),
        };

        return ald_message_format(ALD_KIND_NODE_STATUS, &status);
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

void ald_own_status_accept_older_epoch(AldOwnStatus *own)
{
        own->epoch = 0;
        own->announced = ALD_ABSENT_UINT64;
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

/* Finds or adds the broker. If there are too many, replaces one that is not connected. */
static Echo *find_or_add_echo(AldOwnStatus *own, uint32_t broker)
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
        Echo *echo = find_or_add_echo(own, broker);

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

/* Returns the first sighting of this instance at this broker, and records it if it is new; the oldest makes
 * room. */
static Sighting *find_or_add_sighting(AldOwnStatus *own, const AldNodeStatus *status, uint32_t broker)
{
        Sighting *sighting;

        for (unsigned i = 0; i < MIN(own->n_sightings, SIGHTINGS_MAX); i++) {
                sighting = &own->sightings[i];
                if (sighting->broker == broker && g_str_equal(sighting->instance.text, status->instance))
                        return sighting;
        }
        sighting = &own->sightings[own->n_sightings++ % SIGHTINGS_MAX];
        *sighting = (Sighting){ copy_id(status->instance), broker, status->connection };
        return sighting;
}

static bool seems_alive(AldOwnStatus *own, const AldNodeStatus *status, uint32_t broker, bool retained)
{
        if (find_or_add_sighting(own, status, broker)->conn < status->connection)
                return true;
        return !retained && !ald_status_is(status, ALD_NODE_STATUS_STATE_OFFLINE);
}

static void mark_returned(AldOwnStatus *own, const AldNodeStatus *status, uint32_t broker, uint64_t conn)
{
        Echo *echo = find_echo(own, broker);

        if (!echo || echo->conn != conn || status->connection != conn)
                return;
        echo->returned = true;
        echo->ends = 0;
}

static bool is_former(const AldOwnStatus *own, const char *instance)
{
        for (unsigned i = 0; i < MIN(own->n_formers, FORMERS_MAX); i++)
                if (g_str_equal(own->formers[i].text, instance))
                        return true;
        return false;
}

static bool is_sighted(const AldOwnStatus *own, const char *instance)
{
        for (unsigned i = 0; i < MIN(own->n_sightings, SIGHTINGS_MAX); i++)
                if (g_str_equal(own->sightings[i].instance.text, instance))
                        return true;
        return false;
}

/* Returns whether the connection is old enough that nothing of a former instance of this service arrives
 * through it any more. */
static bool is_settled(const AldOwnStatus *own, uint32_t broker, uint64_t conn, uint64_t now)
{
        const Echo *echo = find_echo(own, broker);

        return echo && echo->conn == conn && now - echo->published >= ALD_SETTLED_USEC;
}

/* Returns whether another instance published while we were connected, or took our place at the broker between
 * two connections. */
static bool is_contested(const AldOwnStatus *own, const AldNodeStatus *status, uint32_t broker, uint64_t conn,
        bool retained, uint64_t now)
{
        const Echo *echo = find_echo(own, broker);

        if (!retained)
                return !ald_status_is(status, ALD_NODE_STATUS_STATE_OFFLINE) &&
                       is_settled(own, broker, conn, now);
        return echo && echo->returned_before && !is_sighted(own, status->instance);
}

/* Returns whether a status of our instance has values that we never wrote. */
static bool is_forged(const AldOwnStatus *own, const AldNodeStatus *status)
{
        return MAX(status->epoch, ald_payload_announced(status)) > own->newest_epoch ||
               status->connection > own->newest_connection;
}

AldOwnFinding ald_own_status_take(AldOwnStatus *own, const AldNodeStatus *status, uint32_t broker,
        uint64_t conn, bool retained, uint64_t now)
{
        bool names_us = g_strcmp0(status->other, own->instance.text) == 0;

        if (is_former(own, status->instance))
                return ALD_OWN_ALONE;
        if (g_str_equal(status->instance, own->instance.text)) {
                mark_returned(own, status, broker, conn);
                if (!is_forged(own, status))
                        return ALD_OWN_ALONE;
                ald_own_status_note_forged(own, now);
                return ALD_OWN_FORGED;
        }
        if (is_contested(own, status, broker, conn, retained, now))
                ald_own_status_note_forged(own, now);
        if (!names_us && !seems_alive(own, status, broker, retained))
                return ALD_OWN_ALONE;
        own->other = copy_id(status->instance);
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
