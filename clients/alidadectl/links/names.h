/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state-client/model.h"

/* {id: friendly name} of the nodes that have one. */
json_t *ald_names_to_json(AldModel *model);
