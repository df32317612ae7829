/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/history/finding-log.h"

/*
 * Writes that a finding began or ended to the journal, as an entry of its own: MESSAGE_ID is that of
 * alidade.catalog, which `journalctl -x` adds. Other fields: ALIDADE_FINDING (its Id), ALIDADE_EVENT,
 * ALIDADE_NODES (separated by spaces), ALIDADE_NAMES (by commas), ALIDADE_BEGAN_USEC, ALIDADE_ENDED_USEC and
 * ALIDADE_REMEDY.
 */
void ald_finding_journal_write(const AldFindingNotice *notice);
