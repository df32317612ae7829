/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/state/state-manager.h"

/* The maximum number of rows in Node1.Configuration. */
#define ALD_REFUSED_SETTINGS_MAX 32u

/* The settings that one service has refused. */
typedef struct AldServiceProblems {
        const char *service; /* alidade-telemetryd */
        AldRows rows;        /* of AldConfigurationProblemRow */
} AldServiceProblems;

/*
 * Keeps the record Node1.Configuration of this node in step with the settings that services refuse: stores it
 * if it differs from the one before, and deletes it when nothing is refused any more. A setting that several
 * services refuse, such as an unknown group, is one row. The order of the services decides whose reason is
 * kept.
 */
void ald_refused_settings_update(AldStateManager *manager, const AldServiceProblems *services, size_t n);
