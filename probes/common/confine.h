/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* The most data, in bytes, that a process of this kind needs. */
#define ALD_CONFINE_SOCKET (UINT64_C(64) << 20)
#define ALD_CONFINE_RDMA (UINT64_C(256) << 20)

/*
 * Limits memory, files and processor time of this process, and disables core dumps and new privileges.
 * signal: sent to it when its parent dies; 0: none. -ESRCH if the parent is already dead.
 */
int ald_confine(uint64_t data_max, int signal, int parent);
