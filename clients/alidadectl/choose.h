/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state-client/model.h"

/* Finds the node that a person means. Complains where there is none, or more than one; an exit code. */
int ald_choose_node(AldModel *model, const char *what, const AldEntity **ret);
