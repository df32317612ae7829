/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"
#include "services/common/service.h"

/* What the state service is asked of the compute devices of this machine: which is due. */
typedef struct AldComputeQuery AldComputeQuery;

AldComputeQuery *ald_compute_query_new(AldService *service);
/* Whoever asked is not told any more. */
void ald_compute_query_free(AldComputeQuery *query);

/* The Id of the device that is due, but none of those to be avoided; NULL where none is. -errno where there
 * was no answer. One question at a time: a later one takes the place of an earlier one. */
typedef void (*AldComputeDueAnswer)(int error, const char *device, void *userdata);
void ald_compute_query_due(
        AldComputeQuery *query, const char *const *avoid, AldComputeDueAnswer answered, void *userdata);
