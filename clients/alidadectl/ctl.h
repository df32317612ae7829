/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <systemd/sd-bus.h>

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
        bool check;  /* of forget */
        char **args; /* what follows the verb, NULL-terminated */
} AldCtl;

typedef struct AldVerb {
        const char *name;
        unsigned min_args, max_args;
        int (*run)(const AldCtl *ctl); /* returns an exit code */
        const char *usage;             /* NULL: not shown */
        const char *help;
} AldVerb;

int ald_verb_status(const AldCtl *ctl);
int ald_verb_nodes(const AldCtl *ctl);
int ald_verb_show(const AldCtl *ctl);
int ald_verb_watch(const AldCtl *ctl);
int ald_verb_monitor(const AldCtl *ctl);
int ald_verb_findings(const AldCtl *ctl);
int ald_verb_links(const AldCtl *ctl);
int ald_verb_topology(const AldCtl *ctl);
int ald_verb_fabric(const AldCtl *ctl);
int ald_verb_probe(const AldCtl *ctl);
int ald_verb_inhibit(const AldCtl *ctl);
int ald_verb_set_name(const AldCtl *ctl);
int ald_verb_forget(const AldCtl *ctl);
int ald_verb_version(const AldCtl *ctl);
int ald_verb_cluster(const AldCtl *ctl);
int ald_verb_names(const AldCtl *ctl);
