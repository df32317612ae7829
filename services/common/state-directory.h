/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Where a service keeps what outlives it: STATE_DIRECTORY as systemd sets it, else the fallback. A service
 * has one. */
const char *ald_state_directory(const char *fallback);
