/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Where a service keeps what outlives it: STATE_DIRECTORY as systemd sets it, else the fallback. A service
 * has one. */
const char *ald_state_directory(const char *fallback);

/* Removes what a service that was killed while it replaced this file has left: PATH.XXXXXX. */
void ald_state_remove_leftovers(const char *path);
