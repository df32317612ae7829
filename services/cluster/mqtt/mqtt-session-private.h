/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <mosquitto.h>

#include "services/cluster/mqtt/mqtt-session.h"

/* For mqtt-session*.c only. */
struct AldMqttSession {
        gatomicrefcount refs; /* of the main loop and of the thread */

        /* Never changes. */
        AldInbox *inbox;
        void *source;
        uint64_t number;
        AldBrokerAddress address;
        char *client_id, *will_topic, *will;
        AldTls *tls;
        AldClaims *claims;
        int wake; /* wakes the thread, to check the following fields */

        GThread *thread; /* used by the main loop only; NULL once it is detached or joined */

        GMutex lock;
        GCond ended_cond;
        bool silent;    /* no longer puts anything into the inbox */
        bool stopping;  /* must disconnect properly */
        bool resolving; /* cannot be stopped now */
        bool ended;
        bool resubscribe;
        bool again; /* also renew existing subscriptions */
        char **filters;
        GPtrArray *asked; /* filters whose retained messages are requested again */
        AldTopicQueue *out;
};

/* What the main loop has requested. The list of filters is NULL if the subscriptions stay; else the
 * caller frees it. */
bool ald_mqtt_session_is_stopping(AldMqttSession *session);
char **ald_mqtt_session_take_filters(AldMqttSession *session, bool *ret_again);
/* NULL if nothing was requested. */
char **ald_mqtt_session_take_asked(AldMqttSession *session);
AldTopicMessage *ald_mqtt_session_take_message(AldMqttSession *session);
bool ald_mqtt_session_has_message(AldMqttSession *session);
bool ald_mqtt_session_may_put(AldMqttSession *session); /* if false, wait until the main loop has caught up */
void ald_mqtt_session_put(AldMqttSession *session, AldTopicMessage *message);
void ald_mqtt_session_unref(AldMqttSession *session);

/* The outcome so far: an event, its text and its number. */
typedef struct AldSessionOutcome {
        AldSessionEvent event;
        char *words;
        uint64_t number;
} AldSessionOutcome;

/* mqtt-session-wire.c: connects to one numeric address, and stays as long as the connection does. */
void ald_mqtt_session_connect(AldMqttSession *session, const char *host, AldSessionOutcome *ret);

typedef enum AldWirePhase {
        ALD_WIRE_TCP,     /* connecting */
        ALD_WIRE_TLS,     /* handshake */
        ALD_WIRE_HELLO,   /* waiting for CONNACK */
        ALD_WIRE_UP,      /* connected */
        ALD_WIRE_BYE,     /* sending what is pending */
        ALD_WIRE_CLOSING, /* sending DISCONNECT */
} AldWirePhase;

/* The connection, used by the thread only. */
typedef struct AldWire {
        AldMqttSession *session;
        struct mosquitto *mosq;
        AldWirePhase phase;
        gint64 deadline;   /* of the phase */
        gint64 heard;      /* when something was last received */
        gint64 read_after; /* when to read again */
        bool more;         /* there is more to read that OpenSSL has already buffered */
        bool done;         /* the outcome is set */
        AldSessionOutcome outcome;

        char *claim;     /* our claim on the broker, or NULL */
        uint64_t expiry; /* of the broker's certificate */
        char *name;      /* common name in it; NULL until it was received */
        char *openssl;   /* its last error */
        int connack;
        char **subscribed;
        GPtrArray *awaited; /* of these, the ones that the broker has not answered yet */
        int subscribe_mid;
        GHashTable *in_flight; /* bytes by message id */
        size_t in_flight_bytes;
} AldWire;

/* mqtt-session-mosquitto.c: libmosquitto, its callbacks, and what is sent. */
int ald_wire_open(AldWire *wire, const char *host); /* what mosquitto_connect_async() returns */
void ald_wire_close(AldWire *wire);
void ald_wire_subscribe(AldWire *wire, char **filters, bool again); /* takes over the list */
void ald_wire_ask_again(AldWire *wire, char **filters);
void ald_wire_fill(AldWire *wire);           /* sends queued messages as far as the window allows */
bool ald_wire_may_fill(const AldWire *wire); /* messages are queued, and the window is open */
bool ald_wire_is_drained(AldWire *wire);
void ald_wire_report(AldWire *wire, AldSessionEvent event, const char *words, uint64_t number);
