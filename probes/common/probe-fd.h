/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <unistd.h>

static inline void ald_fd_close(int *fd)
{
        if (*fd >= 0)
                close(*fd);
        *fd = -1;
}

/* Closes the file descriptor at the end of the scope. */
#define ald_fd __attribute__((cleanup(ald_fd_close)))

static inline int ald_fd_steal(int *fd)
{
        int stolen = *fd;

        *fd = -1;
        return stolen;
}
