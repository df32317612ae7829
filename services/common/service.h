/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

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
 * Notes that about so many bytes were sent to whoever listens. The bus holds them for a client that has
 * stopped reading, and in the end reads nothing more of ours. So it is asked now and then how much it holds,
 * and before that is too much the service ends, to be started anew with a clean account.
 */
void ald_service_sent(AldService *service, size_t bytes);

/* CLOCK_REALTIME in µs. */
uint64_t ald_realtime_usec(void);
