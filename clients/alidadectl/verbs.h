/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/command-line/ctl.h"
#include "clients/command-line/options.h"

typedef struct AldVerb {
        const char *name;
        unsigned min_args, max_args;
        int (*run)(const AldCtl *ctl); /* returns an exit code */
        const char *usage;             /* NULL: not shown */
        const char *help;
        AldCompletion completion;    /* what the shell completes after it */
        const AldSynopsis *synopsis; /* for a verb with options of its own; NULL: main() reads them */
} AldVerb;

int ald_verb_status(const AldCtl *ctl);
int ald_verb_nodes(const AldCtl *ctl);
int ald_verb_devices(const AldCtl *ctl);
int ald_verb_show(const AldCtl *ctl);
int ald_verb_watch(const AldCtl *ctl);
int ald_verb_monitor(const AldCtl *ctl);
int ald_verb_findings(const AldCtl *ctl);
int ald_verb_history(const AldCtl *ctl);
int ald_verb_silence(const AldCtl *ctl);
int ald_verb_unsilence(const AldCtl *ctl);
int ald_verb_check(const AldCtl *ctl);
int ald_verb_links(const AldCtl *ctl);
int ald_verb_topology(const AldCtl *ctl);
int ald_verb_fabric(const AldCtl *ctl);
int ald_verb_probe(const AldCtl *ctl);
int ald_verb_place(const AldCtl *ctl);
int ald_verb_export(const AldCtl *ctl);
int ald_verb_metrics(const AldCtl *ctl);
int ald_verb_inhibit(const AldCtl *ctl);
int ald_verb_set_name(const AldCtl *ctl);
int ald_verb_forget(const AldCtl *ctl);
int ald_verb_cluster(const AldCtl *ctl);
int ald_verb_names(const AldCtl *ctl);

extern const AldSynopsis ald_check_synopsis;
extern const AldSynopsis ald_devices_synopsis;
extern const AldSynopsis ald_export_synopsis;
extern const AldSynopsis ald_findings_synopsis;
extern const AldSynopsis ald_history_synopsis;
extern const AldSynopsis ald_inhibit_synopsis;
extern const AldSynopsis ald_place_synopsis;
extern const AldSynopsis ald_probe_synopsis;
extern const AldSynopsis ald_silence_synopsis;
extern const AldSynopsis ald_unsilence_synopsis;
