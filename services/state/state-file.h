/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store/store.h"

/*
 * state.json in the state directory: the epoch of this node, and those of its records that are expensive to
 * measure. See services/common/saved-file.h for the handling of damage and errors.
 */
typedef struct AldStateFile AldStateFile;

AldStateFile *ald_state_file_new(void);
void ald_state_file_free(AldStateFile *file);

/* Creates the store with an epoch greater than all earlier ones, and loads the saved records. Changes nothing
 * in the directory, which another process may use until this one owns the name of the service. */
AldStore *ald_state_file_load(
        AldStateFile *file, const AldId *local, const AldStoreLimits *limits, uint64_t now);

/* Takes over the directory: sets a damaged file aside, and saves the new epoch. */
void ald_state_file_begin_saving(AldStateFile *file, AldStore *store);

/* Saves the records; does nothing before ald_state_file_begin_saving(). Logs the first of consecutive errors,
 * and when saving works again. */
void ald_state_file_save(AldStateFile *file, AldStore *store);
