/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>

#include "probes/compute/measure.h"

/* What a child tells the program, line by line; it ends with something else than progress. */
typedef enum AldAnswerKind {
        ALD_ANSWER_PROGRESS,
        ALD_ANSWER_DEVICES,
        ALD_ANSWER_MEASURE,
        ALD_ANSWER_FAILURE,
} AldAnswerKind;

typedef struct AldAnswer {
        AldAnswerKind kind;
        AldPhase phase;
        double fraction;
        const char *variant; /* NULL: none yet; a text of source */
        GPtrArray *devices;  /* of AldDevice, without ids */
        AldMeasure measure;  /* with texts of source */
        AldFailure failure;
        json_t *source;
} AldAnswer;

void ald_answer_clear(AldAnswer *answer);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldAnswer, ald_answer_clear)

/* -EBADMSG where the line makes no sense. */
int ald_answer_parse(const char *line, size_t length, AldAnswer *ret);

/* The lines, without their end; freed by free(). */
char *ald_answer_of_progress(AldPhase phase, const char *variant, double fraction);
char *ald_answer_of_devices(const GPtrArray *devices);
char *ald_answer_of_measure(const AldMeasure *measure);
char *ald_answer_of_failure(const AldFailure *failure);
