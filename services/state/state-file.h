/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store.h"

/*
 * state.json in the state directory: the epoch of this node, and those of its records that are dear to
 * measure. Replaced atomically. A damaged file is reported and set aside as state.json.damaged. One
 * that cannot be set aside, or not be read, is reported and never overwritten; a directory that cannot be
 * written is one warning. None of it stops the service.
 */
typedef struct AldStateFile AldStateFile;

AldStateFile *ald_state_file_new(void);
void ald_state_file_free(AldStateFile *file);

/* Makes the store with an epoch greater than any before, loads what is kept, and writes the new epoch down.
 */
AldStore *ald_state_file_load(
        AldStateFile *file, const AldId *local, const AldStoreLimits *limits, uint64_t now);

/* Logs its errors: the first of a row, and when it works again. */
void ald_state_file_save(AldStateFile *file, AldStore *store);
