/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/common/keys.h"

typedef enum AldRdmaMode {
        ALD_RDMA_HELP,
        ALD_RDMA_VERSION,
        ALD_RDMA_LISTEN,
        ALD_RDMA_CONNECT,
        ALD_RDMA_SESSION,
} AldRdmaMode;

typedef enum AldRdmaMethodWanted {
        ALD_RDMA_METHOD_ANY,
        ALD_RDMA_METHOD_WRITE,
        ALD_RDMA_METHOD_SEND,
} AldRdmaMethodWanted;

/* The command line. Strings are those of argv. */
typedef struct AldRdmaOptions {
        AldRdmaMode mode;
        const char *host; /* to connect to; to listen on, NULL: any address */
        unsigned port;
        bool once, json, ask;
        bool manager;                           /* connect by rdma_cm */
        int session_fd, progress_fd, report_fd; /* -1: none */
        AldKeyFiles keys;
        const char *device, *peer_device; /* NULL: any that can be used */
        const char *interface;            /* of the control connection */
        unsigned seconds_max;             /* of each direction */
        uint64_t bytes_max;               /* the same */
        unsigned timeout;                 /* seconds for everything */
        size_t size;                      /* of a message; 0: as fits the port */
        unsigned queues;                  /* 0: as fits the port */
        AldRdmaMethodWanted method;
} AldRdmaOptions;

extern const char ald_rdma_help[];

/* -EINVAL with *ret_error in plain words. */
int ald_rdma_options_parse(int argc, char **argv, AldRdmaOptions *ret, char **ret_error);
