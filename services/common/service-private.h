/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "common/bus-cleanup.h"
#include "common/log.h"
#include "services/common/polkit.h"
#include "services/common/readers.h"
#include "services/common/service.h"
#include "services/common/sysroot.h"

/* For services/common only. */
struct AldService {
        const AldServiceInfo *info;
        AldLog *log;
        AldConfig *config;
        AldConfig *unused_config; /* read last, but not applied, since a file was ignored; else NULL */
        void *manager;
        int root;
        int status;
        bool running;

        sd_bus *bus;
        GSource *bus_source;
        bool owns_name;
        sd_bus_slot *releasing; /* the call that releases the name */
        void (*name_released)(void *userdata);
        void *released_userdata;
        unsigned answers_behind; /* sent while much was queued */

        sd_bus *system_bus;
        GSource *system_source;
        bool system_bus_failed;

        AldReaders *readers; /* NULL in tests without a bus */

        uint64_t refused_signals;
        gint64 refusal_logged; /* CLOCK_MONOTONIC in µs; 0 is never */

        GList *polkit_queries;
        guint watchdog, sigterm, sigint, sighup;
};

/* Drops all pending queries. */
void ald_polkit_forget_all(AldService *service);

/* Exports what the service has refused of its configuration. */
int ald_service_export_problems(AldService *service);

/* Applies a configuration that was read anew, unless a file was ignored, and takes it. */
void ald_service_take_config(AldService *service, AldConfig *fresh);
