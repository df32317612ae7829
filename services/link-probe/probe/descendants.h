/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * The processes that one of our children has started, each of which leads a process group. They are not our
 * children, so they are watched by their pidfds: a process that a driver blocks in the kernel exits late, and
 * uses its device until then.
 */
typedef struct AldDescendants AldDescendants;

/* Finds the present descendants. `gone` is called once all of them have exited, but not if there are none. */
AldDescendants *ald_descendants_new(pid_t parent, void (*gone)(void *userdata), void *userdata);
void ald_descendants_free(AldDescendants *descendants);

bool ald_descendants_are_gone(const AldDescendants *descendants);

/* Kills the processes and their groups. */
void ald_descendants_kill(const AldDescendants *descendants);
