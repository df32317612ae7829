/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How long one run of alidadectl cluster waits for another to end. */
#define ALD_ADMIN_LOCK_SECONDS 30u

/*
 * Takes the lock of a folder, which makes its holder the only one to change it: a file in it that nobody but
 * its owner can open, so that no other user can hold the lock. Waits, having said for whom, and returns a
 * file descriptor to be closed. -ETIMEDOUT after that many seconds, with *ret_holder set, to be freed;
 * -ENOENT where the folder is not there, or went away meanwhile.
 */
int ald_admin_lock_take(const char *folder, unsigned seconds, char **ret_holder);

/* The name of that file. */
#define ALD_ADMIN_LOCK_FILE "lock"
