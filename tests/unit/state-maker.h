/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store/store.h"

/* Stores with records written as JSON, with ' for ". All abort on any error. Node 1 is the local one. */
AldStore *state_make(void);
/* That of another node, since some restart of it. */
AldStore *state_make_of(unsigned node, uint64_t epoch);

/* A kind of nodes. A later call is newer. */
void state_put(AldStore *store, unsigned node, AldKind kind, const char *text);

/* Says that a node is online, so that it counts. */
void state_put_online(AldStore *store, unsigned node);

/* Link number n between two nodes; Source and Sink are added. */
void state_put_link(
        AldStore *store, AldKind kind, unsigned source, unsigned sink, unsigned n, const char *text);

/* The path to an address; Source, Sink and SinkAddress are added. */
void state_put_path(AldStore *store, unsigned source, unsigned sink, const char *address, const char *text);

/* The path between two RDMA ports; both ends of it are added. */
void state_put_ports(AldStore *store, unsigned source, const char *source_port, unsigned sink,
        const char *sink_port, const char *text);

/* The id of a node as a string. */
char *state_id(unsigned node);

/* The interfaces of a node, which must be known. */
const AldNetwork *state_network(AldStore *store, unsigned node);
