/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/link-options.h"

#define ALD_SOCKET_PORT 7461u
#define ALD_SOCKET_DATA_PORTS 16u /* follow ALD_SOCKET_PORT */

/* The extent of a measurement. */
typedef enum AldSocketScope {
        ALD_SOCKET_SCOPE_FULL,
        ALD_SOCKET_SCOPE_CHECK,       /* a few round trips, and a spot check of each direction */
        ALD_SOCKET_SCOPE_ROUND_TRIPS, /* a few round trips */
        ALD_SOCKET_SCOPE_RTT_ONLY,    /* as many round trips as in a full measurement */
} AldSocketScope;

/* Returns "full", "check", or "round-trips" for the last two. */
const char *ald_socket_scope_to_string(AldSocketScope scope);

/* Returns ALD_SOCKET_SCOPE_FULL for NULL, and for any other text, which a newer peer may send. */
AldSocketScope ald_socket_scope_from_string(const char *text);

/* The command line. */
typedef struct AldSocketOptions {
        AldLinkOptions link;
        char *source;
        unsigned streams_max;
        bool zerocopy;
        AldSocketScope scope;
        char *busy, *inhibited; /* reason to refuse sessions, which the other side receives */
} AldSocketOptions;

extern const AldCommandLine ald_socket_command_line;

/* Returns 0 with the options, 1 with the output of --help or --version, -EINVAL with the reason. */
int ald_socket_options_parse(
        int argc, char **argv, AldSocketOptions *ret, char **ret_output, char **ret_error);
void ald_socket_options_clear(AldSocketOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldSocketOptions, ald_socket_options_clear)
