/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/holders/holder-list.h"

/* What is shown of the holders of devices, and to whom: rows of Node1.Processes and of GetHolders(). */

/* What other nodes of the cluster are told of holders besides their number and memory: share-processes=. */
typedef enum AldSharing {
        ALD_SHARING_NONE,
        ALD_SHARING_UNITS,
        ALD_SHARING_ALL,
} AldSharing;

/* Returns -1 for any other word. */
int ald_sharing_from_string(const char *word);

/* Of more rows than this, and of more bytes, those with the least memory are left out: a record has a limit,
 * and processes can be many. */
#define ALD_HOLDER_ROWS_MAX 1024u
#define ALD_HOLDER_ROWS_BYTES_MAX (160u * 1024)

typedef struct AldHolderRows {
        GArray *devices;     /* of AldHeldDevice */
        GArray *holders;     /* of AldHolder */
        uint64_t left_out;   /* processes that are in no row of `holders` */
        GStringChunk *texts; /* of both; others belong to the list of holders */
} AldHolderRows;

AldHolderRows *ald_holder_rows_new(void);
void ald_holder_rows_free(AldHolderRows *rows);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldHolderRows, ald_holder_rows_free)

/* Makes the rows that the cluster is told. They are valid as long as the list. */
void ald_holder_rows_for_cluster(AldHolderRows *rows, const AldHolderList *list, AldSharing sharing);

/* Makes the rows for a user of this machine: one for each process, if the user is root or that of the
 * process, else for each unit. There are none without a list. */
void ald_holder_rows_for_user(AldHolderRows *rows, const AldHolderList *list, uid_t uid);
