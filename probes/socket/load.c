/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "probes/common/clock.h"
#include "probes/common/fd.h"
#include "probes/socket/load.h"

static ssize_t read_line(const char *path, char *buffer, size_t size)
{
        ald_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd >= 0 ? read(fd, buffer, size - 1) : -1;

        buffer[n > 0 ? n : 0] = '\0';
        return n;
}

uint64_t ald_load_of_thread(pid_t tid)
{
        uint64_t run = 0, wait = 0;
        char path[64], line[128];

        snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", (int) tid);
        read_line(path, line, sizeof line);
        return sscanf(line, "%" SCNu64 " %" SCNu64, &run, &wait) == 2 ? run + wait : 0;
}

uint64_t ald_load_idle(void)
{
        uint64_t idle = 0, waiting = 0;
        char line[256];

        read_line("/proc/stat", line, sizeof line);
        if (sscanf(line, "cpu %*u %*u %*u %" SCNu64 " %" SCNu64, &idle, &waiting) != 2)
                return 0;
        return (idle + waiting) * (ALD_NSEC_PER_SEC / (uint64_t) sysconf(_SC_CLK_TCK));
}
