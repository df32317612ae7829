/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "probes/common/admission.h"
#include "record/message.h"

#define TIMEOUT_MSEC 5000
#define GIDS "gids"

static const AldFailureKind refusals[] = { ALD_FAILURE_BUSY, ALD_FAILURE_INHIBITED,
        ALD_FAILURE_ROUND_TRIPS_ONLY };

void ald_admission_report(int fd, const AldSessionReport *report)
{
        g_autofree char *line = ald_message_format(ALD_KIND_SESSION_REPORT, report);

        if (fd >= 0)
                (void) dprintf(fd, "%s\n", line);
}

/* Reads the answer in one call, as it is written. */
static int read_line(int fd, char **ret)
{
        struct pollfd wait = { .fd = fd, .events = POLLIN };
        char line[ALD_ADMISSION_LINE_MAX];
        ssize_t n;
        int r;

        do
                r = poll(&wait, 1, TIMEOUT_MSEC);
        while (r < 0 && errno == EINTR);
        if (r <= 0)
                return r < 0 ? -errno : -ETIMEDOUT;
        n = read(fd, line, sizeof line - 1);
        if (n <= 0 || line[n - 1] != '\n')
                return n < 0 ? -errno : -EBADMSG;
        *ret = g_strndup(line, (size_t) n - 1);
        return 0;
}

/* Parses a line that refuses the session: the name of a failure and the reason. Returns false for any
 * other. */
static bool parse_refusal(const char *line, AldAdmission *ret)
{
        for (size_t i = 0; i < G_N_ELEMENTS(refusals); i++) {
                const char *word = ald_failure_to_string(refusals[i]);

                if (!g_str_has_prefix(line, word) || line[strlen(word)] != ' ')
                        continue;
                *ret = (AldAdmission){ .kind = refusals[i], .why = g_strdup(line + strlen(word) + 1) };
                return true;
        }
        return false;
}

int ald_admission_read(int fd, AldAdmission *ret)
{
        g_autofree char *line = NULL;
        int r = read_line(fd, &line);

        if (r < 0)
                return r;
        if (*line == '\0')
                *ret = (AldAdmission){};
        else if (g_str_has_prefix(line, GIDS) && strchr(" ", line[strlen(GIDS)]))
                *ret = (AldAdmission){ .gids = g_strdup(line + strlen(GIDS)) };
        else if (!parse_refusal(line, ret))
                return -EBADMSG;
        return 0;
}

void ald_admission_clear(AldAdmission *admission)
{
        g_free(admission->why);
        g_free(admission->gids);
        *admission = (AldAdmission){};
}
