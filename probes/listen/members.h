/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/*
 * The addresses of the nodes of the cluster: those from which a node has proved its identity with its
 * certificate within a day, and those that the nodes report. Times are CLOCK_MONOTONIC in µs.
 */
typedef struct AldMembers AldMembers;

/* The form of an address is that of AldRemote: with the number of the interface if it is link-local. */
#define ALD_MEMBER_ADDRESS_MAX 64u

#define ALD_MEMBERS_PROOF_USEC (UINT64_C(24) * 3600 * 1000 * 1000)
/* Limits for the proved and for the reported addresses: of one node, and in total. */
#define ALD_MEMBERS_ADDRESSES_MAX 16u
#define ALD_MEMBERS_MAX 16384u

AldMembers *ald_members_new(void);
void ald_members_free(AldMembers *members);

void ald_members_note_proof(AldMembers *members, const char *address, const char *node, uint64_t now);

/* These set the addresses that the nodes report, which take effect with ald_members_end_reported() and
 * replace the earlier ones. A link-local address has no interface here, since that would be an interface of
 * the other node. */
void ald_members_begin_reported(AldMembers *members);
void ald_members_add_reported(AldMembers *members, const char *address, const char *node);
void ald_members_end_reported(AldMembers *members);

/* Returns the account of a connection from this address: the node that proved to be there, or the address
 * itself if a node only reports it, since a node may report the address of another one. Returns NULL if the
 * address is unknown. The result is `address`, or valid until the object changes. */
const char *ald_members_find(const AldMembers *members, const char *address, uint64_t now);
