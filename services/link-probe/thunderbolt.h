/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/*
 * The Thunderbolt link below a network interface, by sysfs: generation and speed of its lanes together, in
 * bits per second. Both are absent where there is none, or the kernel does not tell.
 */
void ald_thunderbolt_read(int root, const char *interface, uint64_t *ret_generation, uint64_t *ret_speed);
