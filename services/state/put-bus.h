/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "services/state/state-manager.h"

/*
 * Reads the argument of PutRecords() and merges it record by record: a refused record does not affect the
 * others. Fails only if the message itself is malformed.
 */
int ald_put_bus_read(
        sd_bus_message *message, AldStateManager *manager, uint64_t *ret_accepted, uint64_t *ret_refused);

/* Does the same for PutPresences(), whose rows are: node, state, since, clock offset, announced epoch, its
 * epoch. */
#define ALD_PRESENCE_SIGNATURE "sstxtt"
#define ALD_PRESENCES_SIGNATURE "a(" ALD_PRESENCE_SIGNATURE ")"
int ald_put_bus_read_presences(
        sd_bus_message *message, AldStateManager *manager, uint64_t *ret_accepted, uint64_t *ret_refused);
