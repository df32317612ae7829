/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "record/record.h"
#include "services/telemetry/helper/helper.h"

/* The devices that OpenCL shows, from the helper alidade-opencl-list. */
typedef struct AldOpenclSource AldOpenclSource;

/* Called from the main loop with a record of Message1.OpenclAnswer. */
typedef void (*AldOpenclAnswered)(AldRecord *answer, void *userdata);

/* Creates a source. A timing of NULL is the default one. */
AldOpenclSource *ald_opencl_source_new(
        const char *libexec_dir, const AldChildTiming *timing, AldOpenclAnswered answered, void *userdata);
void ald_opencl_source_free(AldOpenclSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldOpenclSource, ald_opencl_source_free)

/* Requests a new list. Call it when the devices have changed. */
void ald_opencl_source_request(AldOpenclSource *source);

/* Returns whether a list is still needed. */
bool ald_opencl_source_is_wanted(const AldOpenclSource *source);

/*
 * Starts the helper if a list is needed and nothing prevents it. The helper may wake devices, so call this
 * only while all of them are active; call it repeatedly, since a failed helper is retried up to three times.
 */
void ald_opencl_source_ask(AldOpenclSource *source);
