/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/probe/probe-kind.h"

/* Checks results of probes against the request. */

/* Applies the rules that hold across fields to a result. One that does not match the target, or lacks
 * required fields, becomes a failure; any other gets its Flags. Answers without a result are unchanged. */
void ald_result_validate(const AldProbeTarget *target, AldProbeAnswer *answer);

/* Returns whether a result is one of a check, which measures only round trips and possibly a spot check. */
bool ald_result_is_check(const AldRecord *result);

/* Returns the fields that a result over sockets shares with the record of the link; all others are absent.
 * They borrow from the result. */
AldLinkSocket ald_result_link(const AldRecord *result);

/* Describes why each direction without a rate has none: "upload: too little arrived". NULL if nothing is
 * known. */
char *ald_result_describe_missing(const AldRecord *answer);

/* Creates a record of these fields: a few strings of bounded length always fit. */
AldRecord *ald_result_make(AldKind kind, const void *fields);
