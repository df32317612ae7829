/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state-client/model.h"

/* Finds a node by what the user typed. Reports errors and returns an exit code. */
int ald_choose_node(AldModel *model, const char *what, const AldEntity **ret);
