/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Returns the state directory of a service: STATE_DIRECTORY as set by systemd, else the fallback. */
const char *ald_state_directory(const char *fallback);

/* Removes temporary files (PATH.XXXXXX) that remain if a service was killed while it replaced this file. */
void ald_state_remove_leftovers(const char *path);
