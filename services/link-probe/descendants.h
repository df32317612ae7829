/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * The processes that one of our children has started, each of which leads a group. They are no children of
 * ours, so they are watched by their descriptors: one that a driver holds in the kernel takes its time to be
 * gone, and uses its device until then.
 */
typedef struct AldDescendants AldDescendants;

/* Those that there are now. `gone` is called once all of them have ended, not where there are none. */
AldDescendants *ald_descendants_new(pid_t parent, void (*gone)(void *userdata), void *userdata);
void ald_descendants_free(AldDescendants *descendants);

/* Ends them and their groups. */
void ald_descendants_kill(const AldDescendants *descendants);

bool ald_descendants_are_gone(const AldDescendants *descendants);
