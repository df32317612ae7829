/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

/* These functions make the sections, which are AldDetailsSection. */

/* Sections about one node. */
GtkWidget *ald_facts_section_new(void);   /* an overview, as in `alidadectl show` */
GtkWidget *ald_devices_section_new(void); /* compute devices */
GtkWidget *ald_joins_section_new(void);   /* the joins of these devices */
GtkWidget *ald_peers_section_new(void);   /* paths to other nodes */

/* Sections about a pair. */
GtkWidget *ald_best_section_new(void);  /* the best rates and the least round-trip time */
GtkWidget *ald_paths_section_new(void); /* all paths between the nodes */

/* Sections about either. */
GtkWidget *ald_history_section_new(void); /* figures of the last hour or day */
GtkWidget *ald_about_section_new(void);   /* findings */
GtkWidget *ald_fields_section_new(void);  /* every field of every record */
