/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

/* What begins a comment that is to become an instruction. */
#define ALD_PTX_MARK "//@"

/*
 * Makes instructions of marked comments, and sets the target that knows them: "sm_90a" for "sm_90". Returns
 * the new text, to be freed with g_free(), or NULL where there is no such comment, or not exactly one line
 * that says the old target: then it is not what was expected, and must not be used.
 */
char *ald_ptx_uncomment(const char *ptx, size_t size, const char *old_target, const char *new_target);
