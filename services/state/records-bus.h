/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "state/store.h"

/* No reply exceeds this. */
#define ALD_REPLY_MAX (16u * 1024 * 1024)

/* What an entry takes on the bus, at most. */
size_t ald_records_bus_size(const AldEntry *entry);

/* Appends one, with an open array around it. */
int ald_records_bus_append(sd_bus_message *message, const AldEntry *entry);

/*
 * Pages through the store, or through what travels of one node: what follows `cursor` ("" begins) of one kind
 * (or of all, with -1), as the array and then the next cursor. -EINVAL for a cursor that names no place.
 * *ret_bytes is about what it takes on the bus.
 */
int ald_records_bus_append_page(sd_bus_message *message, AldStore *store, AldNode *only, int kind,
        const char *cursor, uint64_t max, size_t *ret_bytes);

/* A whole mapping, a{sa{sv}}: -E2BIG where it would be larger than a reply may be. */
int ald_records_bus_append_nodes(sd_bus_message *message, AldStore *store, AldKind kind, size_t *ret_bytes);
int ald_records_bus_append_links(sd_bus_message *message, AldStore *store, size_t *ret_bytes);
int ald_records_bus_append_profile(sd_bus_message *message, const AldNode *node, size_t *ret_bytes);
