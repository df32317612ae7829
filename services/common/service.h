/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "common/config.h"

/*
 * The common part of all daemons: options, logging, configuration, main loop, bus, name, signals, readiness
 * and watchdog. A daemon adds its vtables and its manager. sd-bus and everything here must be used from one
 * thread; all services except clusterd have only this one.
 */
typedef struct AldService AldService;

typedef struct AldServiceInfo {
        const char *name;                /* alidade-identityd */
        const char *description;         /* for --help: one line */
        const char *bus_name;            /* org.alidade.Identity1 */
        const AldConfigKey *config_keys; /* terminated by a key without a group */

        /* Creates the manager, then registers all objects; called before the name is requested. Errors are
         * logged here. */
        int (*start)(AldService *service, void **ret_manager);
        /* The name is owned: only now may the service write its state and publish, since no second process
         * of it does. Called before it reports that it is ready; may be NULL. */
        void (*name_owned)(void *manager);
        /* Applies the configuration after SIGHUP; may be NULL. */
        void (*reload)(void *manager);
        /* Frees everything. The bus still exists. */
        void (*stop)(void *manager);
} AldServiceInfo;

/* The whole of main(). Returns its exit status. */
int ald_service_main(const AldServiceInfo *info, int argc, char *argv[]);

/* The bus of our services: ALIDADE_BUS_ADDRESS, else the system bus. */
sd_bus *ald_service_bus(AldService *service);

/* As ald_bus_source_delay(), for a callback of that bus. */
void ald_service_delay_bus(AldService *service, unsigned msec);

/* The system bus, for hostname1 and NetworkManager; the same connection unless ALIDADE_BUS_ADDRESS selects
 * another bus. NULL if there is none. */
sd_bus *ald_service_system_bus(AldService *service);

const AldConfig *ald_service_config(AldService *service);

/* The root directory for reading /proc and /sys; see sysroot.h. */
int ald_service_root(AldService *service);

/* Ends the main loop. A negative error makes the exit status nonzero; the reason is logged. */
void ald_service_quit(AldService *service, int error, const char *reason);

/* For a service that the bus starts on demand: gives up its name, so that the bus starts it anew for the next
 * call. `released` is called when no further call can arrive; it may quit. */
void ald_service_release_name(AldService *service, void (*released)(void *userdata), void *userdata);

/* Reloads the configuration, like SIGHUP. */
void ald_service_reload(AldService *service);

/* Counts a signal whose sender did not own the name it claimed to come from, for the property
 * RefusedSignals. */
void ald_service_refuse_signal(AldService *service, sd_bus_message *message);
uint64_t ald_service_refused_signals(AldService *service);

/*
 * Accounting of messages that clients leave unread; see readers.h. Sizes may be too large.
 */

/* Notes a broadcast of about this many bytes. */
void ald_service_broadcast(AldService *service, size_t bytes);
/* Whether a broadcast is possible, because enough of the earlier ones was read; if not, try again soon. */
bool ald_service_may_broadcast(AldService *service);
/* Notes that the reply to this call has about this many bytes; for replies that may be large. */
void ald_service_replied(AldService *service, sd_bus_message *call, size_t bytes);
/* Notes that about this many bytes of signals were sent to this connection only. */
void ald_service_directed(AldService *service, const char *name, size_t bytes);
/* Whether it has read enough of what it was sent; if not, try again soon. */
bool ald_service_is_reading(AldService *service, const char *name);
/* Exempts a connection from the accounting; NULL: none. */
void ald_service_exempt(AldService *service, const char *name);
/* The user of a call with short arguments. -ENODATA if the bus has not reported it. */
int ald_service_sender_uid(AldService *service, sd_bus_message *call, uid_t *ret);

/* CLOCK_REALTIME in µs. */
uint64_t ald_realtime_usec(void);
