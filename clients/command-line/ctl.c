/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <locale.h>
#include <unistd.h>

#include "clients/command-line/ctl.h"

/* Prevents a file that is opened later from becoming a standard descriptor. Reading and writing fail as
 * before. */
static void occupy_standard_descriptors(void)
{
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
                if (fcntl(fd, F_GETFD) < 0)
                        (void) open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

void ald_ctl_init(AldCtl *ret)
{
        *ret = (AldCtl){ .pager = true, .ask_password = true };
        occupy_standard_descriptors();
        /* Only characters follow the locale; numbers keep the decimal point. */
        (void) setlocale(LC_CTYPE, "");
}
