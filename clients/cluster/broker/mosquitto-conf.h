/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/* The largest packet that a cluster sends: a record, with its topic. */
#define ALD_MOSQUITTO_PACKET_BYTES 1114112u

/* Options that limit the clients of all listeners. */
typedef enum AldMosquittoLimitIndex {
        ALD_MOSQUITTO_PACKET_SIZE,
        ALD_MOSQUITTO_MESSAGE_SIZE, /* the older name, for the message alone */
        ALD_MOSQUITTO_QUEUED_MESSAGES,
        ALD_MOSQUITTO_QUEUED_BYTES,
        ALD_MOSQUITTO_INFLIGHT_MESSAGES,
        ALD_MOSQUITTO_N_LIMITS,
} AldMosquittoLimitIndex;

/* A limit, as the last line outside of our drop-in sets it. */
typedef struct AldMosquittoLimit {
        bool is_set;
        bool is_later;  /* mosquitto reads that line after our drop-in, so that it counts */
        uint64_t value; /* 0: no limit */
        char *where;
} AldMosquittoLimit;

typedef struct AldMosquittoConf {
        bool shared;       /* there is another listener */
        bool per_listener; /* per_listener_settings is true before our drop-in, which must not repeat it */
        AldMosquittoLimit limits[ALD_MOSQUITTO_N_LIMITS];
} AldMosquittoConf;

void ald_mosquitto_conf_clear(AldMosquittoConf *conf);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldMosquittoConf, ald_mosquitto_conf_clear)

/*
 * Checks that the mosquitto of this folder would read our drop-in, conf.d/alidade.conf, and has no other way
 * in: another listener would let anyone publish for any node, unless it has an ACL of its own or a plugin
 * that is one, and an option after a listener changes that listener. Returns 0, or -errno with the problem
 * and its solution in *ret_reason.
 */
int ald_mosquitto_conf_read(const char *folder, AldMosquittoConf *ret, char **ret_reason);

/* Checks the same, and returns only whether there is another listener. */
int ald_mosquitto_conf_check(const char *folder, bool *ret_shared, char **ret_reason);
