/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store/store.h"

/*
 * The links that one node measured, ordered by (kind, key). A node has few of them, so they are in one block
 * with a hash of each, and finding one touches only that block and the entry. NULL is the empty set.
 */
/* Frees the entries too. */
void ald_link_set_free(AldLinkSet *links);

size_t ald_link_set_count(const AldLinkSet *links);
AldEntry *ald_link_set_find(const AldLinkSet *links, AldKind kind, const char *key);
/* Has the processor fetch the entry that ald_link_set_find() would return. */
void ald_link_set_fetch(const AldLinkSet *links, AldKind kind, const char *key);
/* Returns the first entry after (kind, key), which need not exist; with key NULL the first of all. */
AldEntry *ald_link_set_after(const AldLinkSet *links, AldKind kind, const char *key);
/* Adds an empty entry, which must not exist yet; the set may be reallocated. */
AldEntry *ald_link_set_add(AldLinkSet **links, AldNode *node, AldKind kind, const char *key);
void ald_link_set_remove(AldLinkSet *links, AldEntry *entry);
