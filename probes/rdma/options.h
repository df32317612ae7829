/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "probes/common/keys.h"

typedef struct AldRdmaOptions {
        bool help, version;  /* and nothing else */
        const char *connect; /* NULL: it listens */
        const char *listen;  /* an address; NULL: any */
        bool listens, once, json;
        unsigned port;
        const char *device;
        AldKeyFiles keys;
        unsigned seconds_max;
        size_t size; /* of a message; 0: as fits the port */
} AldRdmaOptions;

extern const char ald_rdma_help[];

int ald_rdma_options_parse(int argc, char **argv, AldRdmaOptions *ret, char **ret_error);
