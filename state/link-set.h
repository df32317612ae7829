/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store.h"

/*
 * The links that one node measured, in the order of (kind, key). Few on any node, so that they stand in one
 * block with a hash of each, and to find one touches that block and the entry and nothing else. NULL is the
 * set without any.
 */
/* Frees the entries too. */
void ald_link_set_free(AldLinkSet *links);

size_t ald_link_set_count(const AldLinkSet *links);
AldEntry *ald_link_set_find(const AldLinkSet *links, AldKind kind, const char *key);
/* The first entry behind (kind, key), whether or not that is there; with key NULL the first of all. */
AldEntry *ald_link_set_after(const AldLinkSet *links, AldKind kind, const char *key);
/* Adds an empty entry, which must not be there yet; the set may move. */
AldEntry *ald_link_set_add(AldLinkSet **links, AldNode *node, AldKind kind, const char *key);
void ald_link_set_remove(AldLinkSet *links, AldEntry *entry);
