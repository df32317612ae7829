/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <microhttpd.h>

#include "clients/common/metric-set.h"

/*
 * A text that is sent to many connections at the same time, and written anew as its contents change. A
 * connection that reads slowly keeps the text with which it began.
 */
typedef struct AldSharedText AldSharedText;

/* Creates an empty text. `bytes_max` limits the size of all texts that connections hold together. */
AldSharedText *ald_shared_text_new(gsize bytes_max);
/* Frees the text. Connections may still hold texts, each of which is freed with the last of its
 * connections. */
void ald_shared_text_free(AldSharedText *shared);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldSharedText, ald_shared_text_free)

/* Replaces the text by the one of a set, which is written in each format when it is first requested. Takes
 * ownership of the set; NULL means that there is no text. */
void ald_shared_text_set(AldSharedText *shared, AldMetricSet *set);

/* Returns the present text, NULL if there is none, and its number, which is never 0. The caller must not
 * destroy it. */
struct MHD_Response *ald_shared_text_get(AldSharedText *shared, AldMetricFormat format, uint64_t *ret_number);

/* Returns the number of the oldest text that a connection still holds, besides the present one; 0 if all
 * texts together are within the limit. */
uint64_t ald_shared_text_excess(AldSharedText *shared);
