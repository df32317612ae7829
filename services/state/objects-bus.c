/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>

#include "services/common/record-bus.h"
#include "services/state/objects-bus.h"
#include "services/state/paths.h"

struct AldObjects {
        AldStore *store;
        GPtrArray *slots;
};

/* What sd-bus hands the interface of a record: the kind comes with the interface's name. */
static int find_record(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret_found,
        sd_bus_error *error)
{
        AldObjects *objects = userdata;
        int kind = ald_kind_from_interface(interface);
        AldEntry *entry = NULL;

        if (kind < 0)
                return 0;
        if (ald_kinds[kind].is_link) {
                entry = ald_path_find_link(objects->store, (AldKind) kind, path);
        } else {
                AldNode *node = ald_path_find_node(objects->store, path);
                if (node)
                        entry = &node->entries[kind];
        }
        if (!entry || !entry->shown)
                return 0;
        *ret_found = entry->record;
        return 1;
}

static gboolean add_node(AldNode *node, void *userdata)
{
        if (node->shown)
                g_ptr_array_add(userdata, ald_path_of_node(node));
        return FALSE;
}

static gboolean add_link(AldEntry *entry, void *userdata)
{
        if (entry->shown)
                g_ptr_array_add(userdata, ald_path_of_entry(entry));
        return FALSE;
}

/* sd-bus frees the paths with free(), which is what g_free() is. */
static int enumerate(sd_bus *bus, const char *prefix, void *userdata, char ***ret_nodes, sd_bus_error *error)
{
        AldObjects *objects = userdata;
        GPtrArray *paths = g_ptr_array_new();

        ald_store_foreach_node(objects->store, add_node, paths);
        ald_store_foreach_link(objects->store, add_link, paths);
        g_ptr_array_add(paths, NULL);
        *ret_nodes = (char **) g_ptr_array_free(paths, FALSE);
        return 0;
}

static int add_interfaces(AldObjects *objects, sd_bus *bus)
{
        for (int kind = 0; kind < ALD_N_KINDS; kind++) {
                const char *prefix = ald_kinds[kind].is_link ? ALD_STATE_LINK_PATH : ALD_STATE_NODE_PATH;
                sd_bus_slot *slot;
                int r;

                r = sd_bus_add_fallback_vtable(bus, &slot, prefix, ald_kinds[kind].interface,
                        ald_record_vtables[kind], find_record, objects);
                if (r < 0)
                        return r;
                g_ptr_array_add(objects->slots, slot);
        }
        return 0;
}

static int add_manager(AldObjects *objects, sd_bus *bus)
{
        sd_bus_slot *slot;
        int r;

        r = sd_bus_add_object_manager(bus, &slot, ALD_STATE_PATH);
        if (r < 0)
                return r;
        g_ptr_array_add(objects->slots, slot);
        r = sd_bus_add_node_enumerator(bus, &slot, ALD_STATE_PATH, enumerate, objects);
        if (r < 0)
                return r;
        g_ptr_array_add(objects->slots, slot);
        return 0;
}

static void slot_free(gpointer slot)
{
        sd_bus_slot_unref(slot);
}

int ald_objects_new(AldService *service, AldStateManager *manager, AldObjects **ret)
{
        AldObjects *objects = g_new0(AldObjects, 1);
        int r;

        *ret = objects;
        objects->store = ald_state_manager_store(manager);
        objects->slots = g_ptr_array_new_with_free_func(slot_free);
        r = add_interfaces(objects, ald_service_bus(service));
        return r < 0 ? r : add_manager(objects, ald_service_bus(service));
}

void ald_objects_free(AldObjects *objects)
{
        if (!objects)
                return;
        g_ptr_array_unref(objects->slots);
        g_free(objects);
}
