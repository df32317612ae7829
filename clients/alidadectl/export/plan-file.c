/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "clients/alidadectl/export/plan-file.h"
#include "clients/command-line/ctl.h"
#include "clients/command-line/print.h"
#include "common/fd.h"
#include "placement/report/report-json.h"

#define CHUNK (64u * 1024)

/* May read more than a plan may have, so that the file is rejected as too large. */
static int read_all(int fd, GString *text)
{
        g_autofree char *chunk = g_malloc(CHUNK);

        while (text->len <= ALD_PLAN_REPORT_BYTES_MAX) {
                ssize_t n = read(fd, chunk, CHUNK);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                if (n == 0)
                        return 0;
                g_string_append_len(text, chunk, n);
        }
        return 0;
}

int ald_plan_file_read(const char *path, AldPlanReport **ret)
{
        bool is_stdin = strcmp(path, "-") == 0;
        ald_fd int file = is_stdin ? -1 : open(path, O_RDONLY | O_CLOEXEC);
        g_autoptr(GString) text = g_string_new(NULL);
        g_autofree char *error = NULL;
        int r;

        r = !is_stdin && file < 0 ? -errno : read_all(is_stdin ? STDIN_FILENO : file, text);
        if (r < 0) {
                ald_print_error("Cannot read %s: %s", path, g_strerror(-r));
                return ALD_EXIT_ERROR;
        }
        r = ald_plan_report_from_text(text->str, text->len, ret, &error);
        if (r < 0) {
                ald_print_error(
                        "%s is not a plan: %s", is_stdin ? "Standard input" : path, error ?: g_strerror(-r));
                return ALD_EXIT_ERROR;
        }
        return ALD_EXIT_OK;
}
