/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "probes/common/asking.h"

#define PATIENCE_MSEC 5000

/* One datagram's worth: the answer is written at once. */
static int read_line(int fd, char line[static ALD_ASKING_MAX])
{
        struct pollfd wait = { .fd = fd, .events = POLLIN };
        ssize_t n;
        int r;

        do
                r = poll(&wait, 1, PATIENCE_MSEC);
        while (r < 0 && errno == EINTR);
        if (r <= 0)
                return r < 0 ? -errno : -ETIMEDOUT;
        n = read(fd, line, ALD_ASKING_MAX - 1);
        if (n <= 0 || line[n - 1] != '\n')
                return n < 0 ? -errno : -EBADMSG;
        line[n - 1] = '\0';
        return 0;
}

int ald_asking_read(int fd, AldAsking *ret)
{
        int r;

        *ret = (AldAsking){};
        r = read_line(fd, ret->line);
        if (r < 0)
                return r;
        if (g_str_has_prefix(ret->line, "busy "))
                ret->busy = ret->line + strlen("busy ");
        else if (g_str_has_prefix(ret->line, "inhibited "))
                ret->inhibited = ret->line + strlen("inhibited ");
        else if (*ret->line != '\0')
                return -EBADMSG;
        return 0;
}
