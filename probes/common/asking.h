/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/failure.h"
#include "record/schema.h"

/* What a session reports to the program that started it, as lines on a descriptor; -1 for no reports. */
void ald_asking_report(int fd, const AldSessionReport *report);

/* The answer of the program that started a session: whether to go on, now that the peer and the scope are
 * known. */

#define ALD_ASKING_MAX 4096u

typedef struct AldAsking {
        char line[ALD_ASKING_MAX];
        AldFailureKind kind;
        const char *why; /* in that line: why not, which is of that kind; NULL where it may go on */
        /* In that line: the GIDs of the other side, with spaces between; NULL where nothing is said of them.
         */
        const char *gids;
} AldAsking;

/* Reads it; a negative errno where there is no answer, or none that makes sense. */
int ald_asking_read(int fd, AldAsking *ret);
