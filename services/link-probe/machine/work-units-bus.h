/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"

/*
 * Tracks which systemd units listed in work-units= are active, by the signals of systemd. If systemd is not
 * on the system bus, none is active, which is logged once.
 */
typedef struct AldWorkUnits AldWorkUnits;

/* `changed` is called when ald_work_units_active() has changed. */
AldWorkUnits *ald_work_units_new(AldService *service, void (*changed)(void *userdata), void *userdata);
void ald_work_units_free(AldWorkUnits *units);

/* Replaces the names or patterns. With an empty list, systemd is not queried. */
void ald_work_units_set(AldWorkUnits *units, const char *const *patterns);

/* Returns whether systemd has reported which units are active. */
bool ald_work_units_are_known(const AldWorkUnits *units);

/* Returns the first active unit, or NULL. */
const char *ald_work_units_active(const AldWorkUnits *units);
