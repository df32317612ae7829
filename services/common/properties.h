/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/field.h"
#include "services/common/service.h"

/*
 * The properties of an interface of a service, in the struct that is generated from its XML. The vtables of
 * vtables.h read them through ald_properties_get().
 */
typedef struct AldProperties {
        AldService *service;
        const char *interface;
        const AldStruct *type;
        /* Sets the fields to their present values. They are absent at first, but a field that a compound
         * literal leaves out becomes 0, which is a value. Texts belong to the service, or are added to
         * `owned`, which frees them with g_free(). */
        void (*read)(const void *of, void *ret, GPtrArray *owned);
        void *of; /* also the userdata of the vtable */

        /* Set by ald_properties_export(). */
        char *path;
        sd_bus_slot *slot;
        void *emitted; /* the values as they were last emitted */
} AldProperties;

/* Exports the interface on the object of the same name: org.alidade.Identity1 on /org/alidade/Identity1. The
 * caller has set the fields above `path`. */
int ald_properties_export(AldProperties *properties, const sd_bus_vtable *vtable);
void ald_properties_clear(AldProperties *properties);

/* Emits PropertiesChanged for the values that differ from those last emitted. */
void ald_properties_emit(AldProperties *properties);

/* Gets a property; the userdata is an AldProperties. */
int ald_properties_get(sd_bus *bus, const char *path, const char *interface, const char *property,
        sd_bus_message *reply, void *userdata, sd_bus_error *error);
