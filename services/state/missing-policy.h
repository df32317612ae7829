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

/* The service has left the bus. Unless it is soon back, a policy replaces its own. */
void ald_missing_policy_begin(AldMissingPolicy *missing);
/* The service is back, so its own policy applies. */
void ald_missing_policy_end(AldMissingPolicy *missing);
