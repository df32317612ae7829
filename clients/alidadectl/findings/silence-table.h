/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state-client/model.h"

/* Appends the rows (AldSilenceRow) as a table. With `local`, users are those of this machine. */
void ald_silence_table_append(
        GString *out, const GPtrArray *rows, AldModel *model, bool local, unsigned columns);
