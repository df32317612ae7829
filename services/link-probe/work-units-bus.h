/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"

/*
 * Which of the systemd units that work-units= names are active, by systemd's signals. Without systemd on the
 * system bus there are none, which is logged once.
 */
typedef struct AldWorkUnits AldWorkUnits;

/* Called when ald_work_units_active() has changed. */
AldWorkUnits *ald_work_units_new(AldService *service, void (*changed)(void *userdata), void *userdata);
void ald_work_units_free(AldWorkUnits *units);

/* Names or patterns, in place of those before; a list that is empty asks systemd nothing. */
void ald_work_units_set(AldWorkUnits *units, const char *const *patterns);

/* Whether it is known which are active; not so until systemd has answered. */
bool ald_work_units_are_known(const AldWorkUnits *units);

/* The first of them that is active, or NULL. */
const char *ald_work_units_active(const AldWorkUnits *units);
