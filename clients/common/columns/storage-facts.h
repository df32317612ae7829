/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/schema.h"

/* Describes a file system in one line: "/srv/models (nvme0n1)". Safe text, to be freed. */
char *ald_storage_title(const AldStorageFileSystem *row);

/* Says how fast models are read from it, in a few words, such as "3.21 GB/s ±1 %, spread 4 %"; "" if that is
 * unknown. Safe text, to be freed. */
char *ald_storage_glance(const AldStorageFileSystem *row);

/* Returns everything as AldFacts, from the row in Node1.Storage or in the result of a job. */
GPtrArray *ald_storage_facts(const AldStorageFileSystem *row);

/* Returns the same in one line, with the age of the figures, or why there are none; "" if there is nothing to
 * say. Safe text, to be freed. */
char *ald_storage_summary(const AldStorageFileSystem *row, double now_usec);
