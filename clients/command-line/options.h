/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <getopt.h>
#include <stdint.h>

#include "clients/command-line/ctl.h"
#include "clients/common/time-words.h"

/* Options that most verbs have, in their tables for getopt_long(). Numbers of their own options are lower. */
enum {
        ALD_OPTION_JSON = 0x1000,
        ALD_OPTION_NO_PAGER,
        ALD_OPTION_NO_ASK_PASSWORD,
};

#define ALD_COMMON_OPTIONS                                                            \
        { "help", no_argument, NULL, 'h' }, { "host", required_argument, NULL, 'H' }, \
                { "json", optional_argument, NULL, ALD_OPTION_JSON },                 \
                { "no-pager", no_argument, NULL, ALD_OPTION_NO_PAGER },               \
        {                                                                             \
                "no-ask-password", no_argument, NULL, ALD_OPTION_NO_ASK_PASSWORD      \
        }

/* What follows the verb, with the name of a program in front, as getopt_long() wants it; it begins anew. Free
 * it with g_free(). */
char **ald_options_begin(const AldCtl *ctl, int *ret_argc);

/* Takes one of ALD_COMMON_OPTIONS, but for help, out of `options`. Returns -1; or reports an invalid value or
 * an unknown option, and returns an exit code. */
int ald_options_take(AldCtl *ctl, char **argv, int c, const struct option *options);

/* Reads the value of an option that is a time (clients/common/time-words.h); false, and reported, if it is
 * invalid. */
bool ald_options_time(
        const char *option, const char *text, uint64_t now_usec, AldRepeatedTime which, uint64_t *ret_usec);
