/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/state/state-manager.h"

/* The limit of rows in Node1.Configuration. */
#define ALD_REFUSED_SETTINGS_MAX 32u

/* What one service has refused of its configuration. */
typedef struct AldServiceProblems {
        const char *service; /* alidade-telemetryd */
        AldRows rows;        /* of AldConfigurationProblemRow */
} AldServiceProblems;

/*
 * Keeps the record Node1.Configuration of this node in step with what the services refuse: stores it if it
 * differs from the one before, and deletes it when nothing is refused any more. What several services refuse,
 * such as an unknown group, is one row. The order of the services decides whose reason is kept.
 */
void ald_refused_settings_take(AldStateManager *manager, const AldServiceProblems *services, size_t n);
