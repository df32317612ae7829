/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/rdma/pair.h"

/* Posts one receive request. */
int ald_pair_post_room(AldPair *pair, unsigned queue, unsigned slot, AldFailure *failure);
