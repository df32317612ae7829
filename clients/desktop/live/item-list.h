/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>
#include <stdbool.h>

/* A list of items, each of which stands for one source value with a key. */
typedef struct AldItemList AldItemList;

typedef struct AldItemListType {
        gpointer (*make)(const void *source, void *userdata);              /* a new item */
        char *(*key_of)(const void *source);                               /* to be freed */
        void (*update)(gpointer item, const void *source, void *userdata); /* of the same key */
} AldItemListType;

AldItemList *ald_item_list_new(GType item_type, const AldItemListType *type);
void ald_item_list_free(AldItemList *list);

/* Makes the list as long as the sources, and in their order. Items of which the key is still there are kept.
 * Of several sources with the same key, each has an item. */
void ald_item_list_update(AldItemList *list, const GPtrArray *sources, void *userdata);

/* The item with this key, or NULL. */
gpointer ald_item_list_get(AldItemList *list, const char *key);

GListModel *ald_item_list_model(AldItemList *list);
