/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/compute/device-json.h"

#define TEXT_MAX 512u

static void set_text(json_t *object, const char *key, const char *text)
{
        if (text && *text)
                json_object_set_new(object, key, json_string(text));
}

static void set_number(json_t *object, const char *key, uint64_t number)
{
        if (number > 0 && number <= INT64_MAX)
                json_object_set_new(object, key, json_integer((json_int_t) number));
}

void ald_device_name(const AldDevice *device, json_t *object)
{
        set_text(object, "Id", device->id);
        set_text(object, "Name", device->name);
        set_text(object, "Platform", device->platform_name);
        set_text(object, "DriverVersion", device->driver_version);
}

json_t *ald_device_describe(const AldDevice *device)
{
        json_t *object = json_object();

        ald_device_name(device, object);
        set_text(object, "Vendor", device->vendor_name);
        set_text(object, "Type", ald_device_type_to_string(device->type));
        set_text(object, "Pci", device->pci);
        set_text(object, "Uuid", device->uuid);
        set_number(object, "ComputeUnits", device->compute_units);
        set_number(object, "MemoryTotalBytes", device->memory_bytes);
        json_object_set_new(object, "Unified", json_boolean(device->unified));
        return object;
}

json_t *ald_device_to_json(const AldDevice *device)
{
        json_t *object = ald_device_describe(device);

        json_object_set_new(object, "VendorId", json_integer(device->vendor_id));
        json_object_set_new(object, "Rank", json_integer(device->platform_rank));
        return object;
}

/* NULL where it is not there. */
static char *get_text(const json_t *object, const char *key)
{
        const json_t *text = json_object_get(object, key);

        return json_string_length(text) > 0 ? g_strndup(json_string_value(text), TEXT_MAX) : NULL;
}

static char *get_any_text(const json_t *object, const char *key)
{
        return get_text(object, key) ?: g_strdup("");
}

static uint64_t get_number(const json_t *object, const char *key)
{
        json_int_t number = json_integer_value(json_object_get(object, key));

        return number > 0 ? (uint64_t) number : 0;
}

static AldDeviceType get_type(const json_t *object)
{
        const char *name = json_string_value(json_object_get(object, "Type"));

        for (AldDeviceType type = ALD_DEVICE_GPU; type <= ALD_DEVICE_CPU; type++)
                if (g_strcmp0(name, ald_device_type_to_string(type)) == 0)
                        return type;
        return ALD_DEVICE_ACCELERATOR;
}

AldDevice *ald_device_from_json(const json_t *object)
{
        AldDevice *device;

        if (!json_is_object(object))
                return NULL;
        device = g_new0(AldDevice, 1);
        device->name = get_any_text(object, "Name");
        device->platform_name = get_any_text(object, "Platform");
        device->driver_version = get_any_text(object, "DriverVersion");
        device->device_version = g_strdup("");
        device->vendor_name = get_any_text(object, "Vendor");
        device->extensions = g_strdup(" ");
        device->gfx = g_strdup("");
        device->pci = get_text(object, "Pci");
        if (device->pci && !ald_device_is_address(device->pci))
                g_clear_pointer(&device->pci, g_free);
        device->uuid = get_text(object, "Uuid");
        device->type = get_type(object);
        device->compute_units = (unsigned) MIN(get_number(object, "ComputeUnits"), UINT32_MAX);
        device->vendor_id = (unsigned) MIN(get_number(object, "VendorId"), UINT32_MAX);
        device->platform_rank = (unsigned) MIN(get_number(object, "Rank"), 2);
        device->memory_bytes = get_number(object, "MemoryTotalBytes");
        device->unified = json_is_true(json_object_get(object, "Unified"));
        return device;
}
