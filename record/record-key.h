/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/id.h"
#include "record/record.h"

#define ALD_KEY_MAX 255u

/*
 * Checks the key of a record: "" for kinds of nodes, "SINKID,ADDRESS" (RFC 5952, no zone) for Link1.Socket,
 * "DEV.PORT,SINKID,DEV.PORT" for Link1.Rdma. Returns -EINVAL for anything else. ret_sink may be NULL.
 */
int ald_key_parse(AldKind kind, const char *key, AldId *ret_sink);

/* Returns the address in a valid key of Link1.Socket, as a pointer into the key. */
const char *ald_key_address(const char *key);

/* Checks that Source and Sink of a link's record match its node and its key, which must be valid, and are
 * different nodes, since nothing measures a link from a node to itself. */
bool ald_key_names(AldKind kind, const char *key, const AldId *node, const AldRecord *record);
