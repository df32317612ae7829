/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* How long a thread of this process ran or waited for a processor, in ns; 0 if unknown. */
uint64_t ald_load_of_thread(pid_t tid);

/* How long all processors together were idle, in ns. */
uint64_t ald_load_idle(void);
