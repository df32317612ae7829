/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* The exit codes of main(), documented in alidadectl(1). */
enum {
        ALD_EXIT_OK,
        ALD_EXIT_ERROR,       /* any other error */
        ALD_EXIT_USAGE,       /* an error in the command line */
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
        bool check;          /* for forget */
        bool all;            /* for topology */
        bool dot;            /* likewise */
        const char *inside;  /* likewise: a node, or NULL */
        const char *columns; /* for verbs that list: names, or NULL */
        const char *sort;    /* likewise */
        bool csv;            /* likewise */
        char **args;         /* the words after the verb, NULL-terminated */
} AldCtl;

/* Sets the defaults and the locale, and opens standard descriptors that are closed. Call it first in
 * main(). */
void ald_ctl_init(AldCtl *ret);
