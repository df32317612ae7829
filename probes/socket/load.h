/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* How long a thread of ours ran or waited for a processor, in ns; 0 where that is not known. */
uint64_t ald_load_of_thread(pid_t tid);

/* How long all processors together had nothing to do, in ns. */
uint64_t ald_load_idle(void);
