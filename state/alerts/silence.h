/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "record/schema.h"

/* Returns whether a silence covers a finding: see Silence() of org.alidade.History1. */
bool ald_silence_covers(const AldSilenceRow *silence, const AldFindingRow *finding);
