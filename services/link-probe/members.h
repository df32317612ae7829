/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/*
 * The addresses of the nodes of the cluster: those from which a node has proved with its certificate which
 * one it is, for a day, and those that the nodes say they have. Times are CLOCK_MONOTONIC in µs.
 */
typedef struct AldMembers AldMembers;

/* As AldRemote writes it: with the number of the interface where it is link-local. */
#define ALD_MEMBER_ADDRESS_MAX 64u

#define ALD_MEMBERS_PROOF_USEC (UINT64_C(24) * 3600 * 1000 * 1000)
/* Of one node, proved and said each; and in all. */
#define ALD_MEMBERS_ADDRESSES_MAX 16u
#define ALD_MEMBERS_MAX 16384u

AldMembers *ald_members_new(void);
void ald_members_free(AldMembers *members);

void ald_members_note_proof(AldMembers *members, const char *address, const char *node, uint64_t now);

/* What the nodes say of themselves; nothing of it holds until ald_members_end_said(), which replaces what
 * they said before. A link-local address has no interface here, since that would be one of their own. */
void ald_members_begin_said(AldMembers *members);
void ald_members_add_said(AldMembers *members, const char *address, const char *node);
void ald_members_end_said(AldMembers *members);

/* What a connection from the address counts for: the node that proved to be there, or the address itself
 * where a node only says so, since a node may say to be where another one is. NULL where the address is
 * unknown. Belongs to the object, until it is changed, or to the caller. */
const char *ald_members_find(const AldMembers *members, const char *address, uint64_t now);
