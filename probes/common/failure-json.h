/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>

#include "probes/common/failure.h"

/* Adds why there is no result: "error" and "message". */
void ald_failure_add_to_json(const AldFailure *failure, json_t *object);
