/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/*
 * Reads the Thunderbolt link to another host, whose device in sysfs is `host`:
 * sys/bus/thunderbolt/devices/0-1. Returns the generation, and the total speed of its lanes towards that host
 * in bits per second. Both are absent if there is no such link, or the kernel does not report them.
 */
void ald_thunderbolt_read(int root, const char *host, uint64_t *ret_generation, uint64_t *ret_speed);
