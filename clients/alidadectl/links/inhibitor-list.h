/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "clients/command-line/bus.h"
#include "clients/common/probes/probe-words.h"

/* A lock that keeps probes away, as ListInhibitors() of org.alidade.LinkProbe1 returns it. */
typedef struct AldProbeLock {
        char *what; /* a word of ALD_PROBE_LOCKS, or several separated by colons */
        char *who, *why;
        uint32_t uid, pid, number;
} AldProbeLock;

/* Reads the list: an array of AldProbeLock, freed with its locks. Negative errno, with the error set. */
int ald_inhibitors_read(sd_bus *bus, GPtrArray **ret, sd_bus_error *error);

/* Returns the list as JSON, with a row for each lock. */
json_t *ald_inhibitors_to_json(const GPtrArray *locks);

/* Returns true if a lock keeps away the probes that these words stand for. */
bool ald_probe_lock_holds(const AldProbeLock *lock, const AldProbeWords *words);

/* Appends the list as a table. With `local`, users are those of this machine. */
void ald_inhibitors_describe(GString *out, const GPtrArray *locks, bool local, unsigned columns);
