/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/probe/probe-kind.h"

/* Checks results of probes against what was asked for. */

/* Applies the rules that hold across fields to a result: if it does not fit the target or lacks what it
 * should have, it becomes a failure, else it gets its Flags. Other answers stay as they are. */
void ald_result_validate(const AldProbeTarget *target, AldProbeAnswer *answer);

/* Whether a result is that of a check: only round trips, and possibly a spot check, were measured. */
bool ald_result_is_check(const AldRecord *result);

/* The fields of a result over sockets that the record of the link has, too. They borrow from it; the rest is
 * absent. */
AldLinkSocket ald_result_link(const AldRecord *result);

/* Why each direction without a rate has none: "upload: too little arrived". NULL if nothing is known. */
char *ald_result_describe_missing(const AldRecord *answer);

/* A record of these fields: a few strings of bounded length always fit. */
AldRecord *ald_result_make(AldKind kind, const void *fields);
