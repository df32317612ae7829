/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "services/common/config.h"

/*
 * What every daemon does alike: options, logging, configuration, the main loop, its bus, its name, signals,
 * readiness and watchdog. A daemon adds its vtables and its manager. sd-bus and everything
 * here belong to one thread, which is the only one of all services but clusterd.
 */
typedef struct AldService AldService;

typedef struct AldServiceInfo {
        const char *name;                /* alidade-identityd */
        const char *description;         /* for --help: one line */
        const char *bus_name;            /* org.alidade.Identity1 */
        const AldConfigKey *config_keys; /* ends with a key without a group */

        /* Registers all objects and starts measuring; called before the name is requested. Logs its errors.
         */
        int (*start)(AldService *service, void **ret_manager);
        /* Takes over the configuration after SIGHUP; may be NULL. */
        void (*reload)(void *manager);
        /* Gives everything back. The bus is still there. */
        void (*stop)(void *manager);
} AldServiceInfo;

/* The whole of main(). Returns its exit status. */
int ald_service_main(const AldServiceInfo *info, int argc, char *argv[]);

/* The bus of our services: ALIDADE_BUS_ADDRESS, else the system bus. */
sd_bus *ald_service_bus(AldService *service);

/* The system bus, where hostname1 and NetworkManager are; the same connection unless ALIDADE_BUS_ADDRESS
 * names another bus. NULL where there is none. */
sd_bus *ald_service_system_bus(AldService *service);

const AldConfig *ald_service_config(AldService *service);

/* The directory that /proc and /sys are read below; see sysroot.h. */
int ald_service_root(AldService *service);

/* Ends the main loop. A negative error makes the exit status nonzero; the reason is logged. */
void ald_service_quit(AldService *service, int error, const char *reason);

/* Reads the configuration again and has the service take it over, as SIGHUP does. */
void ald_service_reload(AldService *service);

/* Counts a signal that did not come from whom it claimed; what the property RefusedSignals shows. */
void ald_service_refuse_signal(AldService *service, sd_bus_message *message);

/* For vtables: SD_BUS_PROPERTY("RefusedSignals", "t", …); the userdata is not looked at. */
uint64_t ald_service_refused_signals(AldService *service);

/*
 * What clients leave unread, which the bus holds until they read it; see readers.h. Sizes may be too large.
 */

/* Notes that about so many bytes were broadcast. */
void ald_service_broadcast(AldService *service, size_t bytes);
/* Whether what was broadcast before has been read, but for what is bearable; else it is to be tried again
 * soon. */
bool ald_service_may_broadcast(AldService *service);
/* Notes that the reply to this call has about so many bytes; for replies that may be large. */
void ald_service_replied(AldService *service, sd_bus_message *call, size_t bytes);
/* Notes that about so many bytes of signals were sent to this connection alone. */
void ald_service_directed(AldService *service, const char *name, size_t bytes);
/* Whether it has read what it was sent; else it is to be tried again soon. */
bool ald_service_is_reading(AldService *service, const char *name);
/* Whatever this connection leaves unread does not count. NULL: there is none such. */
void ald_service_exempt(AldService *service, const char *name);
/* The user of a call whose arguments are few words. -ENODATA where the bus has not told it. */
int ald_service_sender_uid(AldService *service, sd_bus_message *call, uid_t *ret);

/* CLOCK_REALTIME in µs. */
uint64_t ald_realtime_usec(void);
