/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "probes/common/asking.h"
#include "record/message.h"

#define PATIENCE_MSEC 5000
#define GIDS "gids"

static const AldFailureKind refusals[] = { ALD_FAILURE_BUSY, ALD_FAILURE_INHIBITED,
        ALD_FAILURE_ROUND_TRIPS_ONLY };

void ald_asking_report(int fd, const AldSessionReport *report)
{
        g_autofree char *line = ald_message_format(ALD_KIND_SESSION_REPORT, report);

        if (fd >= 0)
                (void) dprintf(fd, "%s\n", line);
}

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
        if (*ret->line == '\0')
                return 0;
        if (g_str_has_prefix(ret->line, GIDS) && strchr(" ", ret->line[strlen(GIDS)])) {
                ret->gids = ret->line + strlen(GIDS);
                return 0;
        }
        for (size_t i = 0; i < G_N_ELEMENTS(refusals) && !ret->why; i++) {
                const char *word = ald_failure_to_string(refusals[i]);

                if (g_str_has_prefix(ret->line, word) && ret->line[strlen(word)] == ' ') {
                        ret->kind = refusals[i];
                        ret->why = ret->line + strlen(word) + 1;
                }
        }
        return ret->why ? 0 : -EBADMSG;
}
