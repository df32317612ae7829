/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* What main() returns; documented in alidadectl(1). */
enum {
        ALD_EXIT_OK,
        ALD_EXIT_ERROR,       /* anything else */
        ALD_EXIT_USAGE,       /* the command line */
        ALD_EXIT_UNREACHABLE, /* no bus, or no service on it */
        ALD_EXIT_NO_NODE,     /* no such node, or several of that name */
        ALD_EXIT_DENIED,      /* not permitted */
};

typedef enum AldJsonMode {
        ALD_JSON_OFF,
        ALD_JSON_SHORT,
        ALD_JSON_PRETTY,
} AldJsonMode;

/* The command line, as the verbs see it. */
typedef struct AldCtl {
        AldJsonMode json;
        const char *host; /* NULL: this machine */
        bool pager;
        bool ask_password;
        bool once;
        bool check;          /* of forget */
        bool all;            /* of topology */
        bool dot;            /* the same */
        const char *inside;  /* the same: a node, or NULL */
        const char *columns; /* of verbs that list: names, or NULL */
        const char *sort;    /* the same */
        bool csv;            /* the same */
        char **args;         /* what follows the verb, NULL-terminated */
} AldCtl;

/* Call it first in main(): sets the defaults, the locale, and those of the standard descriptors that are
 * closed. */
void ald_ctl_init(AldCtl *ret);
