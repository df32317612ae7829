/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "record/record-bus.h"
#include "services/common/properties.h"

static void *read_values(const AldProperties *properties, GPtrArray *owned)
{
        void *values = g_memdup2(properties->type->absent, properties->type->size);

        g_ptr_array_add(owned, values);
        properties->read(properties->of, values, owned);
        return values;
}

int ald_properties_get(sd_bus *bus, const char *path, const char *interface, const char *property,
        sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const AldProperties *properties = userdata;
        const AldField *field = ald_struct_find(properties->type, property);
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);

        return ald_record_bus_append_value(reply, field, ald_field_of(field, read_values(properties, owned)));
}

/* Replaces the emitted values by the present ones, and returns the earlier ones. */
static void *replace_emitted(AldProperties *properties)
{
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        void *before = properties->emitted;

        properties->emitted = ald_struct_dup(properties->type, read_values(properties, owned));
        return before;
}

void ald_properties_emit(AldProperties *properties)
{
        const AldStruct *type = properties->type;
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        g_autofree void *before = replace_emitted(properties);
        int r;

        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];

                if (!field->silent && ald_field_compare(field, ald_field_of(field, before),
                                              ald_field_of(field, properties->emitted)) != 0)
                        g_ptr_array_add(names, (gpointer) field->name);
        }
        if (names->len == 0)
                return;
        g_ptr_array_add(names, NULL);
        r = sd_bus_emit_properties_changed_strv(ald_service_bus(properties->service), properties->path,
                properties->interface, (char **) names->pdata);
        if (r < 0)
                g_warning("Cannot emit PropertiesChanged: %s", g_strerror(-r));
}

/* Serves the properties as a fallback, too: records share the object and are fallbacks, and sd-bus does not
 * mix fallbacks with other vtables on one path. */
static int find_object(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret_found,
        sd_bus_error *error)
{
        const AldProperties *properties = userdata;

        if (!g_str_equal(path, properties->path))
                return 0;
        *ret_found = properties->of;
        return 1;
}

int ald_properties_export(AldProperties *properties, const sd_bus_vtable *vtable)
{
        properties->path = g_strdelimit(g_strconcat("/", properties->interface, NULL), ".", '/');
        replace_emitted(properties);
        return sd_bus_add_fallback_vtable(ald_service_bus(properties->service), &properties->slot,
                properties->path, properties->interface, vtable, find_object, properties);
}

void ald_properties_clear(AldProperties *properties)
{
        sd_bus_slot_unref(properties->slot);
        g_free(properties->path);
        g_free(properties->emitted);
}
