/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/*
 * The Thunderbolt link to another host, of which `host` is the device in sysfs:
 * sys/bus/thunderbolt/devices/0-1. Generation, and speed of its lanes towards that host together, in bits per
 * second. Both are absent where there is no such link, or the kernel does not tell.
 */
void ald_thunderbolt_read(int root, const char *host, uint64_t *ret_generation, uint64_t *ret_speed);
