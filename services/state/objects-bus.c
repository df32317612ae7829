/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>

#include "common/bus-cleanup.h"
#include "record/record-bus.h"
#include "services/state/object-paths.h"
#include "services/state/objects-bus.h"
#include "services/state/records-bus.h"

struct AldObjects {
        AldService *service;
        AldStore *store;
        GPtrArray *slots;
};

/* Finds the record of an object for sd-bus. The kind follows from the name of the interface. */
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

/* Lists the paths of all objects. sd-bus frees them with free(), which g_free() also uses. */
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

/* GetManagedObjects() of sd-bus requests all paths from the enumerator, then parses each again to find the
 * record of each interface; this one goes through the store once. Like the signals, it leaves out the three
 * interfaces without properties that every object has. */

static int open_object(sd_bus_message *reply, const char *path)
{
        int r;

        r = sd_bus_message_open_container(reply, 'e', "oa{sa{sv}}");
        if (r >= 0)
                r = sd_bus_message_append_basic(reply, 'o', path);
        return r < 0 ? r : sd_bus_message_open_container(reply, 'a', "{sa{sv}}");
}

static int close_object(sd_bus_message *reply)
{
        int r = sd_bus_message_close_container(reply);

        return r < 0 ? r : sd_bus_message_close_container(reply);
}

/* A reply under construction. Its error is the first one that occurred. */
typedef struct Managed {
        sd_bus_message *reply;
        size_t bytes;
        int r;
} Managed;

/* Everything fits into a reply, since the store shows no more than MAX_SHOWN_BYTES of state-manager.c. */
static void append_entry(Managed *managed, const AldEntry *entry)
{
        managed->r = ald_record_bus_append_interface(managed->reply, entry->record);
        managed->bytes += ald_records_bus_size(entry);
}

static gboolean append_node(AldNode *node, void *userdata)
{
        Managed *managed = userdata;
        g_autofree char *path = NULL;

        if (!node->shown)
                return FALSE;
        path = ald_path_of_node(node);
        managed->r = open_object(managed->reply, path);
        for (unsigned kind = 0; managed->r >= 0 && kind < ALD_N_NODE_KINDS; kind++)
                if (node->entries[kind].shown)
                        append_entry(managed, &node->entries[kind]);
        if (managed->r >= 0)
                managed->r = close_object(managed->reply);
        return managed->r < 0;
}

static gboolean append_link(AldEntry *entry, void *userdata)
{
        Managed *managed = userdata;
        g_autofree char *path = NULL;

        if (!entry->shown)
                return FALSE;
        path = ald_path_of_entry(entry);
        managed->r = open_object(managed->reply, path);
        if (managed->r >= 0)
                append_entry(managed, entry);
        if (managed->r >= 0)
                managed->r = close_object(managed->reply);
        return managed->r < 0;
}

/* Answers GetManagedObjects(). Other calls at this path, and invalid ones, are left to sd-bus. */
static int on_call(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        g_autoptr(AldMessage) reply = NULL;
        AldObjects *objects = userdata;
        Managed managed;
        int r;

        if (!sd_bus_message_is_method_call(call, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects") ||
                !sd_bus_message_is_empty(call))
                return 0;
        r = sd_bus_message_new_method_return(call, &reply);
        if (r < 0)
                return r;
        managed = (Managed){ reply, 0, sd_bus_message_open_container(reply, 'a', "{oa{sa{sv}}}") };
        if (managed.r >= 0)
                ald_store_foreach_node(objects->store, append_node, &managed);
        if (managed.r >= 0)
                ald_store_foreach_link(objects->store, append_link, &managed);
        r = managed.r < 0 ? managed.r : sd_bus_message_close_container(reply);
        if (r < 0)
                return r;
        ald_service_note_reply(objects->service, call, managed.bytes);
        return sd_bus_send(NULL, reply, NULL);
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
        r = sd_bus_add_object(bus, &slot, ALD_STATE_PATH, on_call, objects);
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
        g_autoptr(AldObjects) objects = g_new0(AldObjects, 1);
        int r;

        objects->service = service;
        objects->store = ald_state_manager_store(manager);
        objects->slots = g_ptr_array_new_with_free_func(slot_free);
        r = add_interfaces(objects, ald_service_bus(service));
        if (r >= 0)
                r = add_manager(objects, ald_service_bus(service));
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&objects);
        return 0;
}

void ald_objects_free(AldObjects *objects)
{
        if (!objects)
                return;
        g_ptr_array_unref(objects->slots);
        g_free(objects);
}
