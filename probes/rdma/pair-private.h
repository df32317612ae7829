/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/rdma/pair.h"

/* Gives the device one place for one thing that is to be received. */
int ald_pair_post_room(AldPair *pair, unsigned queue, unsigned slot, AldFailure *failure);
