/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/state/state-manager.h"

/*
 * The probe policy of this node while the service that publishes it is not running. Its peers are to measure
 * instead of it: that fails, and they report it.
 */
typedef struct AldMissingPolicy AldMissingPolicy;

AldMissingPolicy *ald_missing_policy_new(AldStateManager *manager);
void ald_missing_policy_free(AldMissingPolicy *missing);

/* The service has gone: unless it is soon back, a policy is put in the place of its own. */
void ald_missing_policy_begin(AldMissingPolicy *missing);
/* The service is back: its own policy holds. */
void ald_missing_policy_end(AldMissingPolicy *missing);
