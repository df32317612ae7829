/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/common/failure-json.h"

void ald_failure_add_to_json(const AldFailure *failure, json_t *object)
{
        json_object_set_new(object, "error", json_string(ald_failure_to_string(failure->kind)));
        if (failure->message)
                json_object_set_new(object, "message", json_string(failure->message));
}
