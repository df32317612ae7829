/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "state/store/store.h"

/* The maximum size of a reply. */
#define ALD_REPLY_MAX (16u * 1024 * 1024)

/* Returns the maximum size of an entry on the bus. */
size_t ald_records_bus_size(const AldEntry *entry);

/* Appends an entry to an open array. */
int ald_records_bus_append(sd_bus_message *message, const AldEntry *entry);

/* A page of records, in the order of the store. */
typedef struct AldPageRequest {
        AldNode *only;      /* the published records of this node; NULL: of all nodes */
        int kind;           /* -1: all kinds */
        const char *cursor; /* what the page follows; "" to begin */
        uint64_t max;       /* records; 0: as many as usual */
        bool as_lines;
} AldPageRequest;

/* Appends the entries of a page as an array and then the next cursor, or the next cursor and then the entries
 * as lines of JSON. Returns -EINVAL for an invalid cursor. *ret_bytes is the approximate size on the bus. */
int ald_records_bus_append_page(
        sd_bus_message *message, AldStore *store, const AldPageRequest *request, size_t *ret_bytes);

/* These append a whole mapping, a{sa{sv}}. They return -E2BIG if it would exceed ALD_REPLY_MAX. */
int ald_records_bus_append_nodes(sd_bus_message *message, AldStore *store, AldKind kind, size_t *ret_bytes);
int ald_records_bus_append_links(sd_bus_message *message, AldStore *store, size_t *ret_bytes);
int ald_records_bus_append_profile(sd_bus_message *message, const AldNode *node, size_t *ret_bytes);
