/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "common/bus-cleanup.h"
#include "common/log.h"
#include "services/common/polkit.h"
#include "services/common/readers.h"
#include "services/common/service.h"
#include "services/common/sysroot.h"

/* Private to services/common. */
struct AldService {
        const AldServiceInfo *info;
        AldLog *log;
        AldConfig *config;
        AldConfig *unused_config; /* read last but not applied, because a file was left out; else NULL */
        void *manager;
        int root;
        int status;
        bool running;

        sd_bus *bus;
        GSource *bus_source;
        bool owns_name;
        sd_bus_slot *releasing; /* the pending call that releases the name */
        void (*name_released)(void *userdata);
        void *released_userdata;
        unsigned answers_behind; /* answers sent while many messages were queued */

        sd_bus *system_bus;
        GSource *system_source;
        bool system_bus_failed;

        AldReaders *readers; /* NULL in tests without a bus */

        uint64_t refused_signals;
        gint64 refusal_logged; /* CLOCK_MONOTONIC in µs; 0: never */

        GList *polkit_queries;
        guint watchdog, sigterm, sigint, sighup;
};

/* Drops all pending queries. */
void ald_polkit_forget_all(AldService *service);

/* Exports the refused parts of the configuration. */
int ald_service_export_problems(AldService *service);

/* Takes ownership of a configuration that was read again, and applies it unless a file was left out. */
void ald_service_take_config(AldService *service, AldConfig *fresh);
