/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>

#include "clients/command-line/options.h"
#include "clients/command-line/print.h"
#include "clients/common/time-words.h"

char **ald_options_begin(const AldCtl *ctl, int *ret_argc)
{
        guint n = g_strv_length(ctl->args);
        char **argv = g_new0(char *, n + 2);

        argv[0] = (char *) "alidadectl";
        for (guint i = 0; i < n; i++)
                argv[i + 1] = ctl->args[i];
        optind = 0;
        *ret_argc = (int) n + 1;
        return argv;
}

int ald_options_take(AldCtl *ctl, char **argv, int c, const struct option *options)
{
        switch (c) {
        case 'H':
                ctl->host = optarg;
                return -1;
        case ALD_OPTION_JSON:
                return ald_json_parse_mode(optarg, &ctl->json) < 0 ? ALD_EXIT_USAGE : -1;
        case ALD_OPTION_NO_PAGER:
                ctl->pager = false;
                return -1;
        case ALD_OPTION_NO_ASK_PASSWORD:
                ctl->ask_password = false;
                return -1;
        default:
                return ald_print_option_error(argv, c, options);
        }
}

bool ald_options_time(
        const char *option, const char *text, uint64_t now_usec, AldRepeatedTime which, uint64_t *ret_usec)
{
        g_autofree char *problem = NULL;
        int r = ald_time_parse(text, now_usec, which, ret_usec);

        if (r >= 0)
                return true;
        problem = ald_time_problem(r);
        ald_print_error("--%s=%s %s", option, text, problem);
        return false;
}
