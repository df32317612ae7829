/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "probes/common/failure.h"
#include "record/schema.h"

/* Sends the report of a session to the program that started it, as a line on a descriptor; -1 for no
 * report. */
void ald_asking_report(int fd, const AldSessionReport *report);

/* The answer of the program that started a session: whether to go on, now that the peer and the scope are
 * known. */

#define ALD_ASKING_MAX 4096u /* bytes of a line */

typedef struct AldAsking {
        AldFailureKind kind;
        char *why;  /* not to go on, a failure of this kind; NULL if it may */
        char *gids; /* of the other side, separated by spaces; NULL if they are not given */
} AldAsking;

/* Reads the answer; a negative errno if there is none, or it is invalid. */
int ald_asking_read(int fd, AldAsking *ret);
void ald_asking_clear(AldAsking *asking);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldAsking, ald_asking_clear)
