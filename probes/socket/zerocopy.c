/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>

#include <linux/errqueue.h>

#include "probes/socket/zerocopy.h"

bool ald_zerocopy_wanted(AldZerocopy *zerocopy, int fd, const atomic_bool *wanted)
{
        const int on = 1;

        if (zerocopy->off || !atomic_load(wanted))
                return false;
        if (!zerocopy->asked) {
                zerocopy->asked = true;
                zerocopy->off = setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof on) < 0;
        }
        return !zerocopy->off;
}

static bool was_copied(struct msghdr *message)
{
        const struct cmsghdr *control = CMSG_FIRSTHDR(message);
        const struct sock_extended_err *note;

        if (!control || (control->cmsg_level != SOL_IP && control->cmsg_level != SOL_IPV6))
                return false;
        note = (const struct sock_extended_err *) CMSG_DATA(control);
        return note->ee_origin == SO_EE_ORIGIN_ZEROCOPY && (note->ee_code & SO_EE_CODE_ZEROCOPY_COPIED);
}

void ald_zerocopy_reap(AldZerocopy *zerocopy, int fd)
{
        _Alignas(struct cmsghdr) char control[256];

        for (;;) {
                struct msghdr message = { .msg_control = control, .msg_controllen = sizeof control };

                if (recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
                        return;
                if (was_copied(&message))
                        zerocopy->off = true;
        }
}

void ald_zerocopy_exhausted(AldZerocopy *zerocopy)
{
        zerocopy->off = true;
}
