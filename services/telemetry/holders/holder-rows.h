/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/holders/holder-list.h"

/* Makes the rows of Node1.Processes and of GetHolders(): how much is shown of the holders of devices depends
 * on to whom. */

/* The values of share-processes=: what is shared of holders besides their number and memory. */
typedef enum AldSharing {
        ALD_SHARING_NONE,
        ALD_SHARING_UNITS,
        ALD_SHARING_ALL,
} AldSharing;

/* Returns -1 for any other word. */
int ald_sharing_from_string(const char *word);

/* Limits of the rows of holders, since a record has one and processes can be many. Those with the least
 * memory are left out. */
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

/* Makes the rows that are shared with the cluster. They are valid as long as the list. */
void ald_holder_rows_for_cluster(AldHolderRows *rows, const AldHolderList *list, AldSharing sharing);

/* Makes the rows for a user of this machine: one for each process, if the user is root or that of the
 * process, else for each unit. There are none without a list. */
void ald_holder_rows_for_user(AldHolderRows *rows, const AldHolderList *list, uid_t uid);
