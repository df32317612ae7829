/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <microhttpd.h>

#include "clients/common/metric-set.h"

/*
 * A text that many connections are sent at the same time, written anew as its contents change. A connection
 * that reads slowly keeps the text that it began with.
 */
typedef struct AldSharedText AldSharedText;

/* All texts that somebody holds may together have this size. */
AldSharedText *ald_shared_text_new(gsize bytes_max);
/* Connections may still hold texts, which are then freed with the last of them. */
void ald_shared_text_free(AldSharedText *shared);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldSharedText, ald_shared_text_free)

/* Replaces the text by that of a set; in each format it is written when it is first asked for. Takes the set;
 * NULL: there is no text. */
void ald_shared_text_set(AldSharedText *shared, AldMetricSet *set);

/* The present text, NULL if there is none, and its number, which is never 0. The caller must not destroy it.
 */
struct MHD_Response *ald_shared_text_get(AldSharedText *shared, AldMetricFormat format, uint64_t *ret_number);

/* The number of the oldest text that some connection still holds, besides the present one; 0: all of them
 * together are not too large. */
uint64_t ald_shared_text_excess(AldSharedText *shared);
