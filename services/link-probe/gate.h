/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include <glib.h>
#include <sys/socket.h>

/*
 * How many connections are let wait, by where they come from, before they have shown who they are: so that
 * nobody who has no business here keeps others out.
 */
typedef struct AldGate AldGate;

#define ALD_GATE_MAX 64u
#define ALD_GATE_PER_PLACE_MAX 4u

/* A place: an IPv4 address, or the /64 of an IPv6 address. */
#define ALD_PLACE_MAX 64u
void ald_gate_place(const struct sockaddr *address, char ret[static ALD_PLACE_MAX]);

AldGate *ald_gate_new(void);
void ald_gate_free(AldGate *gate);

/* Whether one more may come in; if so it counts. */
bool ald_gate_enter(AldGate *gate, const char *place);
void ald_gate_leave(AldGate *gate, const char *place);

/* Whether the first bytes are those of TLS. Nobody sends them one by one. */
bool ald_gate_is_tls(const unsigned char *bytes, size_t n);

/* Whether they are those before TLS that ask for RDMA. They choose the program alone. */
#define ALD_GATE_RDMA "RDMA"
#define ALD_GATE_RDMA_SIZE 4u
bool ald_gate_is_rdma(const unsigned char *bytes, size_t n);
