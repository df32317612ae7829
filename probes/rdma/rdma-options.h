/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "probes/common/link-options.h"

typedef enum AldRdmaMethodWanted {
        ALD_RDMA_METHOD_ANY,
        ALD_RDMA_METHOD_WRITE,
        ALD_RDMA_METHOD_SEND,
} AldRdmaMethodWanted;

/* The command line. */
typedef struct AldRdmaOptions {
        AldLinkOptions link;
        gboolean manager;           /* connect by rdma_cm */
        char *device, *peer_device; /* NULL for any that can be used */
        unsigned timeout;           /* seconds for everything */
        size_t size;                /* of a message; 0 if it is to fit the port */
        unsigned queues;            /* 0 if they are to fit the port */
        AldRdmaMethodWanted method;
} AldRdmaOptions;

extern const AldCommandLine ald_rdma_command_line;

/* Returns 0 with the options, 1 with the output of --help or --version, -EINVAL with the reason. */
int ald_rdma_options_parse(int argc, char **argv, AldRdmaOptions *ret, char **ret_output, char **ret_error);
void ald_rdma_options_clear(AldRdmaOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldRdmaOptions, ald_rdma_options_clear)
