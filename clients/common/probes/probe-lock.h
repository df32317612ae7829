/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>
#include <systemd/sd-bus.h>

#include "clients/common/probes/probe-words.h"

/* A lock of org.alidade.LinkProbe1, which keeps probes away as long as its descriptor is open. */
typedef struct AldProbeLockCall {
        const char *what; /* a word of ALD_PROBE_LOCKS, or several separated by colons */
        const char *who, *why;
} AldProbeLockCall;

#define ALD_PROBE_LOCK_ALL ALD_PROBE_LOCKS(":", ":")

/* Makes the call of Inhibit() for an AldProbeLockCall. Negative errno of sd-bus. */
int ald_probe_lock_make(sd_bus *bus, const void *call, sd_bus_message **ret);

/* Returns the descriptor in the reply, which the caller closes. Negative errno. */
int ald_probe_lock_take(sd_bus_message *reply);
