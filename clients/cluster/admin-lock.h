/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How long one run of alidadectl cluster waits for another to finish. */
#define ALD_ADMIN_LOCK_SECONDS 30u

/*
 * Locks a folder, so that only the holder changes it. The lock is a file in it that only its owner can open,
 * so that no other user can hold it. Prints the name of the process that holds it, and waits. Returns a file
 * descriptor to close, -ETIMEDOUT after that many seconds with the holder's name in *ret_reason, which the
 * caller frees, or -ENOENT if the folder does not exist or was removed meanwhile.
 */
int ald_admin_lock_take(const char *folder, unsigned seconds, char **ret_reason);

/* The name of the lock file. */
#define ALD_ADMIN_LOCK_FILE "lock"
