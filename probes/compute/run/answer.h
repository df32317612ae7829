/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/run/measure.h"
#include "record/record.h"

/*
 * The lines that a child sends to the program: the name of a message, a space, and the message. It sends a
 * ComputeStep for each step, and finally ComputeMeasure, DeviceList or ProbeFailure.
 */

#define ALD_ANSWER_LINE_MAX (1024u * 1024) /* bytes */

/* Parses one of these messages. Returns -EBADMSG for any other line, or the error of ald_message_parse(). */
int ald_answer_parse(const char *line, size_t length, AldRecord **ret);

/* These return lines without newline, as ald_message_format_named() writes them. Free them with g_free(). */
char *ald_answer_of_devices(const GPtrArray *devices);
char *ald_answer_of_measure(const AldMeasure *measure);
/* Truncates text that is too long for a message, such as the output of a compiler. */
char *ald_answer_of_failure(const AldFailure *failure);

/* Sets the failure if the answer is one, and returns its error. Returns 0 for any other answer. */
int ald_answer_fail(const AldRecord *answer, AldFailure *failure);
