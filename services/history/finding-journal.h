/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/history/finding-log.h"

/*
 * The journal, which is never waited for, unlike sd_journal_send(3) does: an entry that it does not take at
 * once is lost. Without a journal nothing is written.
 */
typedef struct AldFindingJournal AldFindingJournal;

AldFindingJournal *ald_finding_journal_new(void);
void ald_finding_journal_free(AldFindingJournal *journal);

/*
 * Writes that a finding began or ended, as an entry of its own: MESSAGE_ID is that of alidade.catalog, which
 * `journalctl -x` adds. Other fields: ALIDADE_FINDING (its Id), ALIDADE_EVENT, ALIDADE_NODES (separated by
 * spaces), ALIDADE_NAMES (by commas), ALIDADE_REPORTER, ALIDADE_LEFT_OUT, ALIDADE_BEGAN_USEC,
 * ALIDADE_ENDED_USEC and ALIDADE_REMEDY.
 */
void ald_finding_journal_write(AldFindingJournal *journal, const AldFindingNotice *notice);

/* Entries that were lost. */
uint64_t ald_finding_journal_lost(const AldFindingJournal *journal);
