/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "probes/common/failure.h"
#include "record/schema.h"

/* The program that started a session decides whether to admit it. It is asked once the peer and the scope are
 * known. */

#define ALD_ADMISSION_LINE_MAX 4096u /* bytes of a line */

typedef struct AldAdmission {
        AldFailureKind kind;
        char *why;  /* reason of a refusal, with this kind of failure; NULL if admitted */
        char *gids; /* of the other side, separated by spaces; NULL if they are not given */
} AldAdmission;

/* Writes the report of a session as a line to a descriptor; does nothing if that is -1. */
void ald_admission_report(int fd, const AldSessionReport *report);

/* Reads the answer. Returns a negative errno if there is none, or it is invalid. */
int ald_admission_read(int fd, AldAdmission *ret);
void ald_admission_clear(AldAdmission *admission);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldAdmission, ald_admission_clear)
