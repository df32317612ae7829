/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

/* Makers of the sections, AldDetailsSection. */

/* Of one node. */
GtkWidget *ald_facts_section_new(void);   /* an overview, as in `alidadectl show` */
GtkWidget *ald_devices_section_new(void); /* its compute devices */
GtkWidget *ald_joins_section_new(void);   /* what joins these */
GtkWidget *ald_peers_section_new(void);   /* its paths to other nodes */

/* Of a pair. */
GtkWidget *ald_best_section_new(void);  /* the best rates and the least round trip */
GtkWidget *ald_paths_section_new(void); /* all paths between them */

/* Of both. */
GtkWidget *ald_history_section_new(void); /* figures of the last hour or day */
GtkWidget *ald_about_section_new(void);   /* findings */
GtkWidget *ald_fields_section_new(void);  /* every field of every record */
