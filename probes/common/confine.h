/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* Bytes of data that a process of this kind needs at most. */
#define ALD_CONFINE_SOCKET (UINT64_C(64) << 20)
#define ALD_CONFINE_RDMA (UINT64_C(256) << 20)

/*
 * Limits what this process can take: memory, files, processor time, no core, no new privileges. signal: it
 * gets this one when its parent dies; 0: none. -ESRCH where it is an orphan already.
 */
int ald_confine(uint64_t data_max, int signal, int parent);
