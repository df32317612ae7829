/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "common/config.h"

/*
 * The common part of all daemons: options, logging, configuration, main loop, bus, name, signals, readiness
 * and watchdog. A daemon adds its vtables and its manager. sd-bus and everything here must be used from one
 * thread, which is the only one in all services except clusterd and placementd.
 */
typedef struct AldService AldService;

typedef struct AldServiceInfo {
        const char *name;                /* alidade-identityd */
        const char *description;         /* for --help: one line */
        const char *bus_name;            /* org.alidade.Identity1 */
        const AldConfigKey *config_keys; /* terminated by a key without a group */

        /* Creates the manager, then registers all objects; called before the name is requested. The caller
         * logs errors. */
        int (*start)(AldService *service, void **ret_manager);
        /* Called once the name is owned and before readiness is reported: only now may the service write its
         * state and publish, since no second process of it does. May be NULL. */
        void (*name_owned)(void *manager);
        /* Applies the configuration after SIGHUP; may be NULL. */
        void (*reload)(void *manager);
        /* Frees everything, while the bus still exists. */
        void (*stop)(void *manager);
} AldServiceInfo;

/* Runs the whole program. Returns the exit status of main(). */
int ald_service_main(const AldServiceInfo *info, int argc, char *argv[]);

/* Returns the bus of our services: ALIDADE_BUS_ADDRESS, else the system bus. */
sd_bus *ald_service_bus(AldService *service);

/* Calls ald_bus_source_delay() for that bus, from one of its callbacks. */
void ald_service_delay_bus(AldService *service, unsigned msec);

/* Returns the system bus, for hostname1 and NetworkManager. It is the same connection unless
 * ALIDADE_BUS_ADDRESS selects another bus. NULL if there is none. */
sd_bus *ald_service_system_bus(AldService *service);

const AldConfig *ald_service_config(AldService *service);

/* Returns the root directory for reading /proc and /sys; see sysroot.h. */
int ald_service_root(AldService *service);

/* Ends the main loop and logs the reason. A negative error makes the exit status nonzero. */
void ald_service_quit(AldService *service, int error, const char *reason);

/* Gives up the name of a service that the bus starts on demand, so that the bus starts it anew for the next
 * call. `released` is called when no further call can arrive; it may quit. */
void ald_service_release_name(AldService *service, void (*released)(void *userdata), void *userdata);

/* Reloads the configuration, like SIGHUP. */
void ald_service_reload(AldService *service);

/* Counts a signal for the property RefusedSignals, because its sender did not own the name that the signal
 * claims to come from. */
void ald_service_refuse_signal(AldService *service, sd_bus_message *message);
uint64_t ald_service_refused_signals(AldService *service);

/*
 * Accounting of messages that clients leave unread; see readers.h. Sizes are estimates, and may be too large.
 */

/* Notes a broadcast of about this many bytes. */
void ald_service_note_broadcast(AldService *service, size_t bytes);
/* Returns whether a broadcast is possible, because enough of the earlier ones has been read. If not, try
 * again soon. */
bool ald_service_may_broadcast(AldService *service);
/* Notes that the reply to this call has about this many bytes. Needed only for replies that may be large. */
void ald_service_note_reply(AldService *service, sd_bus_message *call, size_t bytes);
/* Notes that about this many bytes of signals were sent to this connection only. */
void ald_service_note_directed(AldService *service, const char *name, size_t bytes);
/* Returns whether the connection has read enough of its messages. If not, try again soon. */
bool ald_service_is_reading(AldService *service, const char *name);
/* Exempts a connection from the accounting; NULL: none. */
void ald_service_exempt_reader(AldService *service, const char *name);
/* Returns the user of a call with short arguments; -ENODATA if the bus has not reported it. */
int ald_service_sender_uid(AldService *service, sd_bus_message *call, uid_t *ret);

/* Returns CLOCK_REALTIME in µs. */
uint64_t ald_realtime_usec(void);
