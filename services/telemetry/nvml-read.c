/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>
#include <stdio.h>

#include "services/telemetry/child-side.h"
#include "services/telemetry/nvml-read.h"

/* NVML writes the domain with eight digits, the kernel with four. */
static bool to_nvml_address(const char *id, char *ret, size_t size)
{
        unsigned domain, bus, slot, function;
        int end = 0;

        if (sscanf(id, "%8x:%2x:%2x.%1x%n", &domain, &bus, &slot, &function, &end) != 4 || id[end] != '\0')
                return false;
        snprintf(ret, size, "%08X:%02X:%02X.%X", domain, bus, slot, function);
        return true;
}

static int find_device(const AldNvml *nvml, const char *id, AldNvmlHandle **ret)
{
        char address[32];

        if (!to_nvml_address(id, address, sizeof address))
                return nvml->handle_by_index ? nvml->handle_by_index(0, ret) : ALD_NVML_FUNCTION_NOT_FOUND;
        return nvml->handle_by_pci ? nvml->handle_by_pci(address, ret) : ALD_NVML_FUNCTION_NOT_FOUND;
}

static void set(json_t *row, const char *key, long long value)
{
        json_object_set_new(row, key, json_integer(value));
}

static void set_memory(json_t *row, unsigned long long total, unsigned long long used)
{
        set(row, "memory_total_bytes", (long long) total);
        set(row, "memory_used_bytes", (long long) used);
        json_object_set_new(row, "unified", json_false());
}

/* A GPU without memory of its own says that the question does not apply to it. */
static void read_memory(const AldNvml *nvml, AldNvmlHandle *device, json_t *row)
{
        AldNvmlMemory2 memory2 = { .version = ALD_NVML_VERSION(AldNvmlMemory2, 2) };
        AldNvmlMemory memory = {};
        int result = nvml->memory2 ? nvml->memory2(device, &memory2) : ALD_NVML_FUNCTION_NOT_FOUND;

        if (result == ALD_NVML_SUCCESS) {
                set_memory(row, memory2.total, memory2.used);
                return;
        }
        if (nvml->memory)
                result = nvml->memory(device, &memory);
        if (result == ALD_NVML_SUCCESS)
                set_memory(row, memory.total, memory.used);
        else if (result == ALD_NVML_NOT_SUPPORTED)
                json_object_set_new(row, "unified", json_true());
}

static void read_temperature(const AldNvml *nvml, AldNvmlHandle *device, json_t *row)
{
        AldNvmlTemperature versioned = { .version = ALD_NVML_VERSION(AldNvmlTemperature, 1),
                .sensor = ALD_NVML_TEMPERATURE_GPU };
        unsigned temperature;

        if (nvml->temperature_v && nvml->temperature_v(device, &versioned) == ALD_NVML_SUCCESS)
                set(row, "temperature_milli_celsius", versioned.temperature * 1000LL);
        else if (nvml->temperature &&
                 nvml->temperature(device, ALD_NVML_TEMPERATURE_GPU, &temperature) == ALD_NVML_SUCCESS)
                set(row, "temperature_milli_celsius", temperature * 1000LL);
}

static void read_clock(const AldNvml *nvml, AldNvmlHandle *device, json_t *row)
{
        unsigned mhz;

        if (!nvml->clock)
                return;
        if (nvml->clock(device, ALD_NVML_CLOCK_SM, &mhz) == ALD_NVML_SUCCESS ||
                nvml->clock(device, ALD_NVML_CLOCK_GRAPHICS, &mhz) == ALD_NVML_SUCCESS)
                set(row, "clock_hz", mhz * 1000000LL);
}

static void read_name(const AldNvml *nvml, AldNvmlHandle *device, json_t *row)
{
        char name[ALD_NVML_TEXT_MAX] = "";

        if (nvml->name && nvml->name(device, name, sizeof name - 1) == ALD_NVML_SUCCESS)
                json_object_set_new(row, "name", json_string(name));
}

/* Those with a context for computing; a display server has one for graphics. */
static void read_processes(const AldNvml *nvml, AldNvmlHandle *device, json_t *row)
{
        unsigned count = 0;
        int result;

        if (!nvml->compute_processes)
                return;
        result = nvml->compute_processes(device, &count, NULL);
        if (result == ALD_NVML_SUCCESS || result == ALD_NVML_INSUFFICIENT_SIZE)
                set(row, "compute_processes", count);
}

/* Heat, power and clock are those of the card. NULL where there is no instance with this index. */
static json_t *read_instance(const AldNvml *nvml, AldNvmlHandle *device, unsigned index)
{
        unsigned gpu_instance, compute_instance;
        AldNvmlHandle *instance;
        json_t *row;

        if (nvml->mig_handle(device, index, &instance) != ALD_NVML_SUCCESS ||
                nvml->gpu_instance(instance, &gpu_instance) != ALD_NVML_SUCCESS ||
                nvml->compute_instance(instance, &compute_instance) != ALD_NVML_SUCCESS)
                return NULL;
        row = json_pack("{s:I,s:I}", "gpu_instance", (json_int_t) gpu_instance, "compute_instance",
                (json_int_t) compute_instance);
        read_name(nvml, instance, row);
        read_memory(nvml, instance, row);
        read_processes(nvml, instance, row);
        return row;
}

/* A card in MIG mode has "instances", maybe none; another one has not. */
static void read_instances(const AldNvml *nvml, AldNvmlHandle *device, json_t *row)
{
        unsigned current = 0, pending = 0, most = 0;
        json_t *instances;

        if (!nvml->mig_mode || !nvml->mig_count || !nvml->mig_handle || !nvml->gpu_instance ||
                !nvml->compute_instance)
                return;
        if (nvml->mig_mode(device, &current, &pending) != ALD_NVML_SUCCESS ||
                current != ALD_NVML_MIG_ENABLED || nvml->mig_count(device, &most) != ALD_NVML_SUCCESS)
                return;
        instances = json_array();
        for (unsigned i = 0; i < most && i < ALD_NVML_INSTANCES_MAX; i++) {
                json_t *instance = read_instance(nvml, device, i);

                if (instance)
                        json_array_append_new(instances, instance);
        }
        json_object_set_new(row, "instances", instances);
}

static void read_figures(const AldNvml *nvml, AldNvmlHandle *device, json_t *row)
{
        AldNvmlUtilization utilization;
        unsigned milliwatts;

        read_name(nvml, device, row);
        if (nvml->utilization && nvml->utilization(device, &utilization) == ALD_NVML_SUCCESS)
                set(row, "usage", utilization.gpu);
        if (nvml->power && nvml->power(device, &milliwatts) == ALD_NVML_SUCCESS)
                set(row, "power_micro_watts", milliwatts * 1000LL);
        read_memory(nvml, device, row);
        read_temperature(nvml, device, row);
        read_clock(nvml, device, row);
        read_processes(nvml, device, row);
        read_instances(nvml, device, row);
}

static json_t *read_device(const AldNvml *nvml, const char *id)
{
        json_t *row = json_pack("{s:s}", "id", id);
        AldNvmlHandle *device = NULL;
        int result = find_device(nvml, id, &device);

        if (result == ALD_NVML_SUCCESS)
                read_figures(nvml, device, row);
        else
                json_object_set_new(row, "error", json_string(ald_nvml_explain(nvml, result)));
        return row;
}

json_t *ald_nvml_answer(const AldNvml *nvml, const char *request, size_t length)
{
        json_t *asked = json_loadb(request, length, JSON_REJECT_DUPLICATES, NULL), *id;
        json_t *answer = json_object(), *rows = json_array();
        char version[ALD_NVML_TEXT_MAX] = "";
        size_t i;

        if (nvml->driver_version && nvml->driver_version(version, sizeof version - 1) == ALD_NVML_SUCCESS)
                json_object_set_new(answer, "driver_version", json_string(version));
        json_array_foreach(json_object_get(asked, "ids"), i, id)
                if (json_is_string(id))
                        json_array_append_new(rows, read_device(nvml, json_string_value(id)));
        json_object_set_new(answer, "devices", rows);
        json_decref(asked);
        return answer;
}
