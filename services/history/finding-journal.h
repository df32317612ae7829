/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/history/finding-log.h"

/*
 * Writes to the journal without waiting for it, unlike sd_journal_send(3): an entry that the journal does not
 * accept at once is lost. Nothing is written if there is no journal.
 */
typedef struct AldFindingJournal AldFindingJournal;

AldFindingJournal *ald_finding_journal_new(void);
void ald_finding_journal_free(AldFindingJournal *journal);

/*
 * Writes an entry for the beginning or end of a finding. MESSAGE_ID refers to alidade.catalog, whose text
 * `journalctl -x` adds. Other fields: ALIDADE_FINDING (its Id), ALIDADE_EVENT, ALIDADE_NODES (separated by
 * spaces), ALIDADE_NAMES (by commas), ALIDADE_REPORTER, ALIDADE_LEFT_OUT, ALIDADE_BEGAN_USEC,
 * ALIDADE_ENDED_USEC and ALIDADE_REMEDY.
 */
void ald_finding_journal_write(AldFindingJournal *journal, const AldFindingNotice *notice);

/* Returns the number of lost entries. */
uint64_t ald_finding_journal_lost(const AldFindingJournal *journal);
