/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Memory in use of an Intel GPU, by the query of its DRM driver. The kernel answers a process without
 * CAP_PERFMON that nothing is used.
 */

/* Returns whether the kernel answers this process the truth: it has CAP_PERFMON, and in the namespace that
 * the kernel checks, which is the first one. `root` is as in services/common/sysroot.h. */
bool ald_intel_memory_is_told(int root);

/* Reads it from an open render node of this driver, i915 or xe. Returns -EOPNOTSUPP for others, -ENODATA if
 * the device has no memory of its own, and -EBADMSG if the driver contradicts itself. */
int ald_intel_memory_used(int fd, const char *driver, uint64_t *ret_bytes);
