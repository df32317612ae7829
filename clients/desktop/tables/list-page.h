/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/live/live-cluster.h"

/* A list that can be searched, and what is shown in its place if there is nothing in it. */
#define ALD_TYPE_LIST_PAGE (ald_list_page_get_type())
G_DECLARE_FINAL_TYPE(AldListPage, ald_list_page, ALD, LIST_PAGE, GtkBox)

/* An action of each page that contains one of these: opens the search, or closes it. */
#define ALD_LIST_SEARCH_ACTION "list.search"

typedef struct AldListPageKind {
        const char *placeholder; /* of the search entry: to be translated, as are the next three */
        const char *empty_title;
        const char *empty_text;
        const char *empty_icon; /* not this one */
        /* What is shown instead of the text, already translated, or NULL; the member may be NULL. */
        const char *(*advice)(AldLiveCluster *cluster, gpointer userdata);
        /* All words of an item in which a user may search, to be freed. */
        char *(*words)(gpointer item, gpointer userdata);
} AldListPageKind;

/* Shows only some of the items. */
typedef struct AldListPageFilter {
        bool (*shows)(gpointer item);
        const char *empty_title;       /* while all are hidden: to be translated, as is the next */
        const char *no_results_text;   /* of a search among those that are shown */
        char *(*hidden_text)(guint n); /* so many are hidden; to be freed */
} AldListPageFilter;

/* The functions of the kind get the userdata. Neither is copied. */
AldListPage *ald_list_page_new(
        AldLiveCluster *cluster, GListModel *items, const AldListPageKind *kind, gpointer userdata);

/* Shows other items in their place. */
void ald_list_page_set_items(AldListPage *page, GListModel *items, const AldListPageKind *kind);

/* NULL shows all items. It is not copied. */
void ald_list_page_set_filter(AldListPage *page, const AldListPageFilter *filter);

/* The items that pass the filter and match the search. */
GListModel *ald_list_page_items(AldListPage *page);

/* The list, in which it scrolls. */
void ald_list_page_set_list(AldListPage *page, GtkWidget *list);

/* To be called after words of items have changed, or whether a filter shows them. */
void ald_list_page_search_again(AldListPage *page);

/* Opens the search, or closes it. */
void ald_list_page_toggle_search(AldListPage *page);

/* The widget is a page of the window that contains the list. */
void ald_list_page_set_container(AldListPage *page, GtkWidget *container);

/* The search bar of such a widget; NULL for any other. */
GtkWidget *ald_list_page_search_bar(GtkWidget *container);
