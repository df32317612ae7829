/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>
#include <stdbool.h>

/* A list of items, each of which stands for one source value with a key. */
typedef struct AldItemList AldItemList;

typedef struct AldItemListType {
        gpointer (*make)(const void *source, void *userdata);              /* returns a new item */
        char *(*key_of)(const void *source);                               /* returns a string to be freed */
        void (*update)(gpointer item, const void *source, void *userdata); /* from a source of its key */
} AldItemListType;

AldItemList *ald_item_list_new(GType item_type, const AldItemListType *type);
void ald_item_list_free(AldItemList *list);

/* Makes the list as long as the sources, and in their order. An item whose key is still there is kept.
 * Sources with the same key have an item each. */
void ald_item_list_update(AldItemList *list, const GPtrArray *sources, void *userdata);

/* Returns the item with this key, or NULL. */
gpointer ald_item_list_get(AldItemList *list, const char *key);

GListModel *ald_item_list_model(AldItemList *list);
