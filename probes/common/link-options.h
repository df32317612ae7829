/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "probes/common/arguments.h"
#include "probes/common/keys.h"

/* The options that all programs for measuring links have in common. */
typedef enum AldLinkMode {
        ALD_LINK_MODE_HELP,
        ALD_LINK_MODE_VERSION,
        ALD_LINK_MODE_LISTEN,
        ALD_LINK_MODE_CONNECT,
        ALD_LINK_MODE_SESSION,
} AldLinkMode;

/* Strings point into argv. */
typedef struct AldLinkOptions {
        AldLinkMode mode;
        const char *host; /* to connect to; to listen on, NULL: any address */
        unsigned port;
        bool once, json;
        bool ask; /* the program at report_fd decides whether to measure, once the peer and the scope are
                     known */
        /* Sent to the other side: the probe was not requested by a user, so it may be deferred; the figures
         * are so old that it should be measured in spite of other traffic. */
        bool automatic, overdue;
        int session_fd, progress_fd, report_fd; /* -1: none */
        AldKeyFiles keys;
        const char *interface;
        unsigned seconds_max; /* of each direction */
        uint64_t bytes_max;   /* of each direction */
} AldLinkOptions;

#define ALD_LINK_OPTIONS_INIT(default_port)                                                   \
        {                                                                                     \
                .port = (default_port), .session_fd = -1, .progress_fd = -1, .report_fd = -1, \
                .seconds_max = 5, .bytes_max = ALD_ARGUMENTS_BYTES_MAX                        \
        }

/* Options of a single program start with the last value. */
enum {
        ALD_LINK_OPTION_VERSION = 0x100,
        ALD_LINK_OPTION_LISTEN,
        ALD_LINK_OPTION_CONNECT,
        ALD_LINK_OPTION_SESSION_FD,
        ALD_LINK_OPTION_REPORT_FD,
        ALD_LINK_OPTION_PROGRESS_FD,
        ALD_LINK_OPTION_PORT,
        ALD_LINK_OPTION_SECONDS,
        ALD_LINK_OPTION_BYTES,
        ALD_LINK_OPTION_ONCE,
        ALD_LINK_OPTION_JSON,
        ALD_LINK_OPTION_ASK,
        ALD_LINK_OPTION_AUTOMATIC,
        ALD_LINK_OPTION_OVERDUE,
        ALD_LINK_OPTION_KEY_FILE,
        ALD_LINK_OPTION_IDENTITY,
        ALD_LINK_OPTION_CRL,
        ALD_LINK_OPTION_PEER,
        ALD_LINK_OPTION_BIND_DEVICE,
        ALD_LINK_OPTION_END,
};

/* Their rows in a table for getopt_long(). */
#define ALD_LINK_OPTIONS_ROWS                                                                          \
        { "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, ALD_LINK_OPTION_VERSION }, \
                { "listen", optional_argument, NULL, ALD_LINK_OPTION_LISTEN },                         \
                { "connect", required_argument, NULL, ALD_LINK_OPTION_CONNECT },                       \
                { "session-fd", required_argument, NULL, ALD_LINK_OPTION_SESSION_FD },                 \
                { "report-fd", required_argument, NULL, ALD_LINK_OPTION_REPORT_FD },                   \
                { "progress-fd", required_argument, NULL, ALD_LINK_OPTION_PROGRESS_FD },               \
                { "port", required_argument, NULL, ALD_LINK_OPTION_PORT },                             \
                { "seconds-max", required_argument, NULL, ALD_LINK_OPTION_SECONDS },                   \
                { "bytes-max", required_argument, NULL, ALD_LINK_OPTION_BYTES },                       \
                { "once", no_argument, NULL, ALD_LINK_OPTION_ONCE },                                   \
                { "json", no_argument, NULL, ALD_LINK_OPTION_JSON },                                   \
                { "ask", no_argument, NULL, ALD_LINK_OPTION_ASK },                                     \
                { "automatic", no_argument, NULL, ALD_LINK_OPTION_AUTOMATIC },                         \
                { "overdue", no_argument, NULL, ALD_LINK_OPTION_OVERDUE },                             \
                { "key-file", required_argument, NULL, ALD_LINK_OPTION_KEY_FILE },                     \
                { "identity", required_argument, NULL, ALD_LINK_OPTION_IDENTITY },                     \
                { "crl", required_argument, NULL, ALD_LINK_OPTION_CRL },                               \
                { "peer", required_argument, NULL, ALD_LINK_OPTION_PEER },                             \
        {                                                                                              \
                "bind-device", required_argument, NULL, ALD_LINK_OPTION_BIND_DEVICE                    \
        }

/* The limits of a program. */
typedef struct AldLinkOptionsRange {
        unsigned port_max, seconds_max;
} AldLinkOptionsRange;

/* Handles one of them, or -h, like AldArgumentsSet. */
int ald_link_options_set(
        AldLinkOptions *options, int option, const AldLinkOptionsRange *range, char **ret_error);

/* Checks them after all were read: -EINVAL with *ret_error if they are inconsistent, or if an argument
 * follows them. */
int ald_link_options_check(const AldLinkOptions *options, int argc, char **argv, char **ret_error);
