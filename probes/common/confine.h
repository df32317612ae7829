/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Limits what this process can take: memory, files, processor time, no core, no new privileges. signal: it
 * gets this one when its parent dies; 0: none. -ESRCH where it is an orphan already.
 */
int ald_confine(int signal, int parent);
