/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/state/state-manager.h"

/*
 * Publishes a probe policy for this node while the service that normally does so is not running. The policy
 * makes peers measure in place of this node: that fails, and they report it.
 */
typedef struct AldMissingPolicy AldMissingPolicy;

AldMissingPolicy *ald_missing_policy_new(AldStateManager *manager);
void ald_missing_policy_free(AldMissingPolicy *missing);

/* Starts to wait for the service, which has left the bus. Unless it is soon back, a policy is stored in place
 * of its own. */
void ald_missing_policy_begin(AldMissingPolicy *missing);
/* Stops waiting: the service is back, and its own policy applies. */
void ald_missing_policy_end(AldMissingPolicy *missing);
