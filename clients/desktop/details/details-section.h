/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/details/rows/keyed-rows.h"
#include "clients/desktop/live/live-cluster.h"

/* What the pane shows: one node, or a pair. Valid during one update. */
typedef struct AldDetailsSubject {
        AldLiveCluster *cluster;
        AldModel *model;
        const char *a, *b;                /* ids; b is NULL for one node */
        const AldEntity *node_a, *node_b; /* NULL if not known, or no longer */
        double now;                       /* CLOCK_REALTIME in µs */
        bool outdated;                    /* what the nodes report is not current */
} AldDetailsSubject;

/* Returns whether this is the machine whose state service the window reads. Probes can be started
 * only there. */
bool ald_details_subject_is_own(const AldDetailsSubject *subject, const char *node_id);

/* Returns the name of a node as safe text. */
char *ald_details_subject_name(const AldDetailsSubject *subject, const char *node_id);

/* Added to the flags of AldLivePart: ages have grown. */
#define ALD_DETAILS_TICK (1u << 31)

/*
 * A part of the page with a heading and a list, hidden while it has no content. A new one is a subclass in a
 * file of its own, with a line in sections.h and one in details-pane.c.
 */
#define ALD_TYPE_DETAILS_SECTION (ald_details_section_get_type())
G_DECLARE_DERIVABLE_TYPE(AldDetailsSection, ald_details_section, ALD, DETAILS_SECTION, GtkBox)

struct _AldDetailsSectionClass {
        GtkBoxClass parent;
        guint parts;          /* the changes that affect it: AldLivePart and ALD_DETAILS_TICK */
        bool shows_telemetry; /* dimmed, with a note, while what a node reports is outdated */

        /* Updates the rows. */
        void (*update)(AldDetailsSection *section, const AldDetailsSubject *subject);
};

void ald_details_section_set_title(AldDetailsSection *section, const char *title);

/* Adds a widget at the end of the heading. */
void ald_details_section_add_suffix(AldDetailsSection *section, GtkWidget *widget);

AldKeyedRows *ald_details_section_rows(AldDetailsSection *section);

/* Shows a sentence below the heading; NULL for none. */
void ald_details_section_set_note(AldDetailsSection *section, const char *note);

/* Calls update() if one of these parts affects the section. */
void ald_details_section_update(AldDetailsSection *section, const AldDetailsSubject *subject, guint parts);
