/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

/*
 * Converts comments that begin with "//@" to instructions, and sets the target that supports them: "sm_90a"
 * for "sm_90". Returns the new text, to be freed with g_free(), or NULL if there is no such comment, or not
 * exactly one line with the old target, since such text must not be used.
 */
char *ald_ptx_uncomment(const char *ptx, size_t size, const char *old_target, const char *new_target);
