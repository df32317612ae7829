/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "record/record.h"
#include "services/telemetry/child.h"

/* What OpenCL shows, by way of alidade-opencl-list. */
typedef struct AldOpenclSource AldOpenclSource;

/* Called from the main loop with a record of Message1.OpenclAnswer. */
typedef void (*AldOpenclAnswered)(AldRecord *answer, void *userdata);

/* A timing of NULL is the usual one. */
AldOpenclSource *ald_opencl_source_new(
        const char *libexec_dir, const AldChildTiming *timing, AldOpenclAnswered answered, void *userdata);
void ald_opencl_source_free(AldOpenclSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldOpenclSource, ald_opencl_source_free)

/* The devices have changed: a list is wanted anew. */
void ald_opencl_source_want(AldOpenclSource *source);

/* Whether a list is still to be had. */
bool ald_opencl_source_is_wanted(const AldOpenclSource *source);

/*
 * Starts the helper where a list is wanted and nothing stands against it. It may wake devices, so it is
 * called only while all are awake; and again and again, since after a failure the helper is tried again, up
 * to three times.
 */
void ald_opencl_source_ask(AldOpenclSource *source);
