/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/measure.h"
#include "record/record.h"

/*
 * What a child sends the program, line by line: the name of a message, a blank, and the message. It sends
 * ComputeStep with each step, and ends with ComputeMeasure, DeviceList or ProbeFailure.
 */

#define ALD_ANSWER_LINE_MAX (1024u * 1024) /* bytes */

/* One of these messages; -EBADMSG for any other line, or the error of ald_message_parse(). */
int ald_answer_parse(const char *line, size_t length, AldRecord **ret);

/* The line without its end; NULL if it is too long. Free with g_free(). */
char *ald_answer_format(AldKind kind, const void *fields);
char *ald_answer_of_devices(const GPtrArray *devices);
char *ald_answer_of_measure(const AldMeasure *measure);
/* What is too long for a message, as what a compiler says may be, is cut. */
char *ald_answer_of_failure(const AldFailure *failure);

/* The failure that an answer is. Returns 0, without a failure, for any other. */
int ald_answer_fail(const AldRecord *answer, AldFailure *failure);
