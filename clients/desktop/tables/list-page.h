/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/live/live-cluster.h"

/* A list that can be searched, with a status page in its place while it is empty. */
#define ALD_TYPE_LIST_PAGE (ald_list_page_get_type())
G_DECLARE_FINAL_TYPE(AldListPage, ald_list_page, ALD, LIST_PAGE, GtkBox)

/* The name of an action that each page with such a list installs, which opens or closes the search. */
#define ALD_LIST_SEARCH_ACTION "list.search"

typedef struct AldListPageKind {
        const char *placeholder; /* of the search entry; this and the next two members are to be translated */
        const char *empty_title;
        const char *empty_text;
        const char *empty_icon; /* name of an icon */
        /* Returns a text to show instead of empty_text, already translated, or NULL. The member may be NULL.
         */
        const char *(*advice)(AldLiveCluster *cluster, gpointer userdata);
        /* Returns all words of an item in which a user may search, to be freed. */
        char *(*words)(gpointer item, gpointer userdata);
} AldListPageKind;

/* A filter, which shows only some of the items. */
typedef struct AldListPageFilter {
        bool (*shows)(gpointer item);
        const char *empty_title;       /* while all are hidden; this and the next are to be translated */
        const char *no_results_text;   /* for a search among the shown items */
        char *(*hidden_text)(guint n); /* says that n items are hidden; to be freed */
} AldListPageFilter;

/* The functions of the kind receive the userdata. Neither the kind nor the userdata is copied. */
AldListPage *ald_list_page_new(
        AldLiveCluster *cluster, GListModel *items, const AldListPageKind *kind, gpointer userdata);

/* Replaces the items, and the kind, which is not copied. */
void ald_list_page_set_items(AldListPage *page, GListModel *items, const AldListPageKind *kind);

/* Sets the filter, which is not copied. NULL shows all items. */
void ald_list_page_set_filter(AldListPage *page, const AldListPageFilter *filter);

/* Returns the items that pass the filter and match the search. */
GListModel *ald_list_page_items(AldListPage *page);

/* Sets the widget of the list, which the page scrolls. */
void ald_list_page_set_list(AldListPage *page, GtkWidget *list);

/* Call this after words of items have changed, or the filter may show other items. */
void ald_list_page_search_again(AldListPage *page);

/* Opens the search, or closes it. */
void ald_list_page_toggle_search(AldListPage *page);

/* Notes in a page of the window that it contains the list. */
void ald_list_page_set_container(AldListPage *page, GtkWidget *container);

/* Returns the search bar of such a container; NULL for any other widget. */
GtkWidget *ald_list_page_search_bar(GtkWidget *container);
