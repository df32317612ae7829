/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/common/link-options.h"

typedef enum AldRdmaMethodWanted {
        ALD_RDMA_METHOD_ANY,
        ALD_RDMA_METHOD_WRITE,
        ALD_RDMA_METHOD_SEND,
} AldRdmaMethodWanted;

/* The command line. Strings are those of argv. */
typedef struct AldRdmaOptions {
        AldLinkOptions link;
        bool manager;                     /* connect by rdma_cm */
        const char *device, *peer_device; /* NULL: any that can be used */
        unsigned timeout;                 /* seconds for everything */
        size_t size;                      /* of a message; 0: as fits the port */
        unsigned queues;                  /* 0: as fits the port */
        AldRdmaMethodWanted method;
} AldRdmaOptions;

extern const char ald_rdma_help[];

/* -EINVAL with *ret_error in plain words. */
int ald_rdma_options_parse(int argc, char **argv, AldRdmaOptions *ret, char **ret_error);
