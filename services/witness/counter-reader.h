/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"

/* Reads the memory in use and the usage of Intel's GPUs, which the kernel shows with CAP_PERFMON only. */
typedef struct AldCounterReader AldCounterReader;

/* `root` is as in services/common/sysroot.h. */
AldCounterReader *ald_counter_reader_new(int root);
void ald_counter_reader_free(AldCounterReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldCounterReader, ald_counter_reader_free)

/* Answers a request with a CountersAnswer, which always fits into a message. Free with g_free(). */
char *ald_counter_reader_answer(AldCounterReader *reader, const AldRecord *request);
