/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "probes/common/command-line.h"
#include "probes/common/keys.h"

/* The options that all programs for measuring links have in common. */
typedef enum AldLinkMode {
        ALD_LINK_MODE_NONE,
        ALD_LINK_MODE_LISTEN,
        ALD_LINK_MODE_CONNECT,
        ALD_LINK_MODE_SESSION,
} AldLinkMode;

typedef struct AldLinkOptions {
        AldLinkMode mode;
        char *host; /* to connect to; to listen on, NULL: any address */
        unsigned port;
        gboolean once, json;
        gboolean ask; /* the program at report_fd decides whether to measure, once the peer and the scope are
                         known */
        /* Sent to the other side. automatic: no user requested the probe, so it may be deferred. overdue: the
         * last figures are so old that it should run in spite of other traffic. */
        gboolean automatic, overdue;
        int session_fd, progress_fd, report_fd; /* -1: none */
        AldKeyFiles keys;
        char *interface;
        unsigned seconds_max; /* of each direction */
        uint64_t bytes_max;   /* of each direction */
} AldLinkOptions;

/* The defaults and limits of a program, and how its help describes them. */
typedef struct AldLinkDefaults {
        unsigned port, port_max;
        unsigned seconds, seconds_max;
        const char *about_port, *about_interface, *about_seconds;
} AldLinkDefaults;

/* Sets the defaults, and reads these options and those of `entries`. Returns what ald_command_line_parse()
 * does. The options must be cleared in any case. */
int ald_link_options_parse(AldLinkOptions *options, const AldCommandLine *line,
        const AldLinkDefaults *defaults, const GOptionEntry *entries, int argc, char **argv,
        char **ret_output, char **ret_error);

/* Returns -EINVAL with the reason if the options are not consistent. */
int ald_link_options_check(const AldLinkOptions *options, char **ret_error);

void ald_link_options_clear(AldLinkOptions *options);
