/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <mosquitto.h>

#include "services/cluster/mqtt/mqtt-session.h"

/* Private to mqtt-session*.c. */
struct AldMqttSession {
        gatomicrefcount refs; /* one held by the main loop, one by the thread */

        /* Set at the start, and never changed. */
        AldInbox *inbox;
        void *source;
        uint64_t number;
        AldBrokerAddress address;
        char *client_id, *will_topic, *will;
        AldTls *tls;
        AldClaims *claims;
        int wake; /* wakes the thread, which then checks the fields below */

        GThread *thread; /* used by the main loop only; NULL once it is detached or joined */

        GMutex lock;
        GCond ended_cond;
        bool silent;    /* no longer puts anything into the inbox */
        bool stopping;  /* must disconnect properly */
        bool resolving; /* getaddrinfo() is running, which cannot be interrupted */
        bool ended;
        bool resubscribe;
        bool again; /* renew existing subscriptions too */
        char **filters;
        GPtrArray *asked; /* filters whose retained messages are requested again */
        AldTopicQueue *out;
};

/* Return what the main loop has requested. The list of filters, which the caller frees, is NULL if the
 * subscriptions stay as they are. */
bool ald_mqtt_session_is_stopping(AldMqttSession *session);
char **ald_mqtt_session_take_filters(AldMqttSession *session, bool *ret_again);
/* Returns the filters to request again, which the caller frees; NULL if there are none. */
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

/* Implemented in mqtt-session-wire.c: connects to one numeric address, and returns when the connection has
 * ended. */
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
        gint64 read_after; /* when to read again, in µs of CLOCK_MONOTONIC; 0: at once */
        bool more;         /* OpenSSL has already buffered more to read */
        bool done;         /* the outcome is set */
        AldSessionOutcome outcome;

        char *claim;     /* our claim on the broker, or NULL */
        uint64_t expiry; /* of the broker's certificate */
        char *name;      /* common name in it; NULL until it was received */
        char *openssl;   /* the last error of OpenSSL */
        int connack;
        char **subscribed;
        GPtrArray *awaited; /* the subscribed filters that the broker has not answered yet */
        int subscribe_mid;
        GHashTable *in_flight; /* bytes by message id */
        size_t in_flight_bytes;
} AldWire;

/* Implemented in mqtt-session-mosquitto.c: setup and callbacks of libmosquitto, and sending. */
int ald_wire_open(AldWire *wire, const char *host); /* returns a code of libmosquitto */
void ald_wire_close(AldWire *wire);
void ald_wire_subscribe(AldWire *wire, char **filters, bool again); /* takes ownership of the list */
void ald_wire_ask_again(AldWire *wire, char **filters);
void ald_wire_fill(AldWire *wire);           /* sends queued messages as far as the window allows */
bool ald_wire_may_fill(const AldWire *wire); /* messages are queued, and the window is open */
bool ald_wire_is_drained(AldWire *wire);
void ald_wire_report(AldWire *wire, AldSessionEvent event, const char *words, uint64_t number);
