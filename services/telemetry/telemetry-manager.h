/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include <glib.h>

#include "common/config.h"
#include "record/kind.h"
#include "services/telemetry/holders/holder-rows.h"

/*
 * Decides what is measured and when. Everything is reported at the start; afterwards memory, load and free
 * space are reported at their intervals, devices and interfaces when they change.
 */
typedef struct AldTelemetryManager AldTelemetryManager;

/* The kinds of records that are sampled at an interval. */
typedef enum AldRate {
        ALD_RATE_MEMORY,
        ALD_RATE_SYSTEM,
        ALD_RATE_DISK,
        ALD_N_RATES,
} AldRate;

typedef struct AldRateInfo {
        AldKind kind;
        uint64_t min_usec, max_usec;
        const char *key; /* of the configuration, in multiples of unit_usec */
        uint64_t unit_usec;
} AldRateInfo;

extern const AldRateInfo ald_rates[ALD_N_RATES];

typedef struct AldTelemetrySettings {
        uint64_t interval_usec[ALD_N_RATES]; /* clamped to the limits above */
        const char *const *disk_paths;       /* absolute */
        AldSharing sharing;                  /* how much of processes other nodes are shown */
} AldTelemetrySettings;

extern const AldConfigKey ald_telemetry_config_keys[];

/* Reads the settings, which are valid as long as the configuration. */
AldTelemetrySettings ald_telemetry_settings_read(const AldConfig *config);

/* Receives the fields of a record that was measured, which are valid during the call. */
typedef void (*AldTelemetryMeasured)(AldKind kind, const void *fields, void *userdata);

/* Copies the settings. The root must stay open as long as the manager lives. */
AldTelemetryManager *ald_telemetry_manager_new(int root, const AldTelemetrySettings *settings);
void ald_telemetry_manager_free(AldTelemetryManager *manager);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldTelemetryManager, ald_telemetry_manager_free)

/* Starts measuring, and calls back until the manager is freed. Everything that can be read without waiting is
 * reported before this returns. Call it once; before it, call nothing but ald_telemetry_manager_free(). */
void ald_telemetry_manager_start(AldTelemetryManager *manager, AldTelemetryMeasured measured, void *userdata);

/* Applies new settings. Intervals set with ald_telemetry_manager_set_interval() stay. */
void ald_telemetry_manager_configure(AldTelemetryManager *manager, const AldTelemetrySettings *settings);

uint64_t ald_telemetry_manager_interval(const AldTelemetryManager *manager, AldRate rate);

/* Sets an interval, clamped to its limits; 0 restores the configured one. Returns the one in effect. */
uint64_t ald_telemetry_manager_set_interval(AldTelemetryManager *manager, AldRate rate, uint64_t usec);

/* Returns who holds the devices, as far as this user may see it; valid until control returns to the main
 * loop. */
const AldHolderRows *ald_telemetry_manager_holders(AldTelemetryManager *manager, uid_t uid);

/* Uses the data of NetworkManager from now on. Call it when NetworkManager is on the bus, or may be. */
void ald_telemetry_manager_use_network_manager(AldTelemetryManager *manager);

/* Returns the rate at which this kind is sampled, or -ENOENT. */
int ald_rate_from_kind(int kind);
