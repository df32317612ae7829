/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <glib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/common/fd.h"
#include "probes/compute/lock.h"

/* No other user can open this file: a user who can open a file can hold its lock for ever. */
static int open_file(const AldCache *cache)
{
        g_autofree char *path = g_build_filename(cache->folder, ALD_CACHE_LOCK_FILE, NULL);
        ald_fd int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
                fchmod(fd, 0600) < 0)
                return -1;
        return ald_fd_steal(&fd);
}

int ald_lock_take(const AldCache *cache, AldFailure *failure)
{
        ald_fd int fd = open_file(cache);

        if (fd < 0)
                return ald_fail(failure, ALD_FAILURE_INTERNAL, "there is no lock file in the cache folder");
        if (flock(fd, LOCK_EX | LOCK_NB) < 0)
                return ald_fail(failure, ALD_FAILURE_BUSY,
                        "another alidade-probe-compute of this user is measuring on this machine");
        return ald_fd_steal(&fd);
}
