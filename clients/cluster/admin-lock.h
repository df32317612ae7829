/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How long one run of alidadectl cluster waits for another to finish. */
#define ALD_ADMIN_LOCK_SECONDS 30u

/*
 * Locks a folder, so that only the holder changes it. The lock is a file in it that only its owner can open,
 * so that no other user can hold it. Waits, after naming the process that holds it, and returns a file
 * descriptor to close. Returns -ETIMEDOUT after that many seconds and sets *ret_reason to its name, which the
 * caller frees; -ENOENT if the folder does not exist, or was removed meanwhile.
 */
int ald_admin_lock_take(const char *folder, unsigned seconds, char **ret_reason);

/* The name of that file. */
#define ALD_ADMIN_LOCK_FILE "lock"
