/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/message.h"
#include "record/record.h"
#include "services/telemetry/helper/helper-side.h"
#include "services/telemetry/helper/nvml-api.h"
#include "services/telemetry/helper/nvml-live.h"
#include "services/telemetry/helper/nvml-processes.h"

/* The rows of one answer, and the texts that they point to. */
typedef struct Reading {
        const AldNvml *nvml;
        const char *const *by_index; /* ids in the order of NVML's indexes, or NULL */
        GArray *rows;                /* of AldNvmlDevice */
        GArray *links;               /* of AldNvLink; NULL if they were not requested */
        AldNvmlProcesses processes;  /* without `rows` if they are not listed this time */
        const char *driver_version;  /* NULL if unknown */
        GStringChunk *texts;
} Reading;

/* Converts the kernel's PCI address to NVML's, whose domain has eight digits instead of four. Returns false
 * if it is not one. */
static bool to_nvml_address(const char *id, char *ret, size_t size)
{
        unsigned domain, bus, slot, function;
        int end = 0;

        if (sscanf(id, "%8x:%2x:%2x.%1x%n", &domain, &bus, &slot, &function, &end) != 4 || id[end] != '\0')
                return false;
        snprintf(ret, size, "%08X:%02X:%02X.%X", domain, bus, slot, function);
        return true;
}

static int find_handle(const AldNvml *nvml, const char *const *by_index, const char *id, AldNvmlHandle **ret)
{
        char address[32];

        for (unsigned i = 0; by_index && by_index[i]; i++)
                if (g_str_equal(by_index[i], id))
                        return nvml->handle_by_index ? nvml->handle_by_index(i, ret)
                                                     : ALD_NVML_FUNCTION_NOT_FOUND;
        if (!to_nvml_address(id, address, sizeof address))
                return nvml->handle_by_index ? nvml->handle_by_index(0, ret) : ALD_NVML_FUNCTION_NOT_FOUND;
        return nvml->handle_by_pci ? nvml->handle_by_pci(address, ret) : ALD_NVML_FUNCTION_NOT_FOUND;
}

static const char *keep_text(Reading *reading, const char *text)
{
        g_autofree char *trimmed = ald_child_side_text(text);

        return trimmed ? g_string_chunk_insert(reading->texts, trimmed) : NULL;
}

static void set_memory(AldNvmlDevice *row, uint64_t total, uint64_t used)
{
        row->memory_total_bytes = total;
        row->memory_used_bytes = used;
        row->unified = false;
}

/* Reads the memory of a GPU. One without memory of its own reports that this is not supported, or 0 bytes. */
static void read_memory(const AldNvml *nvml, AldNvmlHandle *device, AldNvmlDevice *row)
{
        AldNvmlMemory2 memory2 = { .version = ALD_NVML_VERSION(AldNvmlMemory2, 2) };
        AldNvmlMemory memory = {};
        int result = nvml->memory2 ? nvml->memory2(device, &memory2) : ALD_NVML_FUNCTION_NOT_FOUND;

        if (result == ALD_NVML_SUCCESS && memory2.total > 0) {
                /* No program can use what the driver reserves; OpenCL does not count it either. */
                set_memory(row, memory2.total - MIN(memory2.reserved, memory2.total), memory2.used);
                return;
        }
        if (nvml->memory)
                result = nvml->memory(device, &memory);
        if (result == ALD_NVML_SUCCESS && memory.total > 0)
                set_memory(row, memory.total, memory.used);
        else if (result == ALD_NVML_NOT_SUPPORTED || result == ALD_NVML_SUCCESS)
                row->unified = true;
}

static void read_name(Reading *reading, AldNvmlHandle *device, AldNvmlDevice *row)
{
        const AldNvml *nvml = reading->nvml;
        char name[ALD_NVML_TEXT_MAX] = "";

        if (nvml->name && nvml->name(device, name, sizeof name - 1) == ALD_NVML_SUCCESS)
                row->name = keep_text(reading, name);
}

static void read_architecture(Reading *reading, AldNvmlHandle *device, AldNvmlDevice *row)
{
        const AldNvml *nvml = reading->nvml;
        int major, minor;
        char text[32];

        if (!nvml->compute_capability ||
                nvml->compute_capability(device, &major, &minor) != ALD_NVML_SUCCESS || major < 1 ||
                major > 999 || minor < 0 || minor > 9)
                return;
        snprintf(text, sizeof text, "sm_%d%d", major, minor);
        row->architecture = keep_text(reading, text);
}

/* Lists who holds a card or an instance. */
static void list_processes(Reading *reading, AldNvmlHandle *device, const char *id)
{
        if (reading->processes.rows)
                ald_nvml_processes_read(reading->nvml, device, id, reading->texts, &reading->processes);
}

/* Counts the processes with a compute context. A display server has one for graphics, and does not count. */
static void read_processes(const AldNvml *nvml, AldNvmlHandle *device, AldNvmlDevice *row)
{
        unsigned count = 0;
        int result;

        if (!nvml->compute_processes)
                return;
        result = nvml->compute_processes(device, &count, NULL);
        if (result == ALD_NVML_SUCCESS || result == ALD_NVML_INSUFFICIENT_SIZE)
                row->compute_processes = count;
}

/* Reads a MIG instance, but not temperature, power and clock, which belong to the card. Returns false if no
 * instance has this index. */
static bool read_instance(
        Reading *reading, AldNvmlHandle *device, const char *card, unsigned index, AldNvmlDevice *ret)
{
        const AldNvml *nvml = reading->nvml;
        unsigned gpu_instance, compute_instance;
        g_autofree char *id = NULL;
        AldNvmlHandle *instance;

        if (nvml->mig_handle(device, index, &instance) != ALD_NVML_SUCCESS ||
                nvml->gpu_instance(instance, &gpu_instance) != ALD_NVML_SUCCESS ||
                nvml->compute_instance(instance, &compute_instance) != ALD_NVML_SUCCESS ||
                gpu_instance > UINT16_MAX || compute_instance > UINT16_MAX)
                return false;
        id = g_strdup_printf("%s/%u-%u", card, gpu_instance, compute_instance);
        *ret = (AldNvmlDevice) ALD_NVML_DEVICE_INIT;
        ret->id = g_string_chunk_insert(reading->texts, id);
        ret->parent = card;
        read_name(reading, instance, ret);
        read_memory(nvml, instance, ret);
        read_processes(nvml, instance, ret);
        list_processes(reading, instance, ret->id);
        return true;
}

static bool is_in_mig_mode(const AldNvml *nvml, AldNvmlHandle *device, unsigned *ret_most)
{
        unsigned current = 0, pending = 0;

        return nvml->mig_mode && nvml->mig_count && nvml->mig_handle && nvml->gpu_instance &&
               nvml->compute_instance && nvml->mig_mode(device, &current, &pending) == ALD_NVML_SUCCESS &&
               current == ALD_NVML_MIG_ENABLED && nvml->mig_count(device, ret_most) == ALD_NVML_SUCCESS;
}

/* Reads the MIG instances of a card, which its processes hold instead of the card. Without permission to see
 * the processes of the whole card, NVML still reports those of each instance, so the count of the card is
 * their sum. */
static void read_instances(Reading *reading, AldNvmlHandle *device, AldNvmlDevice *card)
{
        unsigned most = 0;
        uint64_t sum = 0;

        if (!is_in_mig_mode(reading->nvml, device, &most)) {
                list_processes(reading, device, card->id);
                return;
        }
        for (unsigned i = 0; i < most && i < ALD_NVML_INSTANCES_MAX; i++) {
                AldNvmlDevice instance;

                if (!read_instance(reading, device, card->id, i, &instance))
                        continue;
                instance.architecture = card->architecture;
                g_array_append_val(reading->rows, instance);
                if (instance.compute_processes == ALD_ABSENT_UINT64)
                        sum = ALD_ABSENT_UINT64;
                else if (sum != ALD_ABSENT_UINT64)
                        sum += instance.compute_processes;
        }
        if (card->compute_processes == ALD_ABSENT_UINT64)
                card->compute_processes = sum;
}

static uint64_t read_link_speed(const AldNvml *nvml, AldNvmlHandle *device, unsigned link)
{
        AldNvmlField field = { .id = ALD_NVML_FIELD_LINK_SPEED, .scope = link };

        if (!nvml->fields || nvml->fields(device, 1, &field) != ALD_NVML_SUCCESS ||
                field.result != ALD_NVML_SUCCESS || field.type != ALD_NVML_TYPE_UNSIGNED_INT ||
                field.value.number == 0)
                return ALD_ABSENT_UINT64;
        return field.value.number * UINT64_C(8000000);
}

/* Returns the PCI address of the other end as the kernel writes it, with a domain of four digits instead of
 * NVML's eight; NULL if unknown. */
static const char *read_link_remote(Reading *reading, AldNvmlHandle *device, unsigned link)
{
        const AldNvml *nvml = reading->nvml;
        unsigned domain, bus, slot, function;
        AldNvmlPci pci = {};
        char text[32];

        if (!nvml->link_remote || nvml->link_remote(device, link, &pci) != ALD_NVML_SUCCESS)
                return NULL;
        pci.address[sizeof pci.address - 1] = '\0';
        if (sscanf(pci.address, "%8x:%2x:%2x.%1x", &domain, &bus, &slot, &function) != 4)
                return NULL;
        snprintf(text, sizeof text, "%04x:%02x:%02x.%x", domain, bus, slot, function);
        return keep_text(reading, text);
}

/* Adds a link if it is active, unless it leads to a processor. Drivers that cannot report the type of the
 * other end do not support switches, so it is a GPU. */
static void read_link(Reading *reading, AldNvmlHandle *device, const char *id, unsigned link)
{
        g_autofree char *link_id = g_strdup_printf("%s,%u", id, link);
        const AldNvml *nvml = reading->nvml;
        AldNvLink row = ALD_NV_LINK_INIT;
        unsigned active = 0;
        int type = ALD_NVML_REMOTE_GPU;

        if (nvml->link_state(device, link, &active) != ALD_NVML_SUCCESS || active != ALD_NVML_LINK_ACTIVE)
                return;
        if (nvml->link_remote_type && nvml->link_remote_type(device, link, &type) != ALD_NVML_SUCCESS)
                return;
        if (type != ALD_NVML_REMOTE_GPU && type != ALD_NVML_REMOTE_SWITCH)
                return;
        row.id = g_string_chunk_insert(reading->texts, link_id);
        row.device = id;
        row.remote = read_link_remote(reading, device, link);
        row.to_switch = type == ALD_NVML_REMOTE_SWITCH;
        row.bits_per_second = read_link_speed(nvml, device, link);
        g_array_append_val(reading->links, row);
}

static void read_links(Reading *reading, AldNvmlHandle *device, const char *id)
{
        if (!reading->links || !reading->nvml->link_state)
                return;
        for (unsigned link = 0; link < ALD_NVML_LINKS_MAX; link++)
                read_link(reading, device, id, link);
}

static void read_fields(Reading *reading, AldNvmlHandle *device, AldNvmlDevice *row)
{
        const AldNvml *nvml = reading->nvml;
        AldNvmlUtilization utilization;

        read_name(reading, device, row);
        if (nvml->utilization && nvml->utilization(device, &utilization) == ALD_NVML_SUCCESS)
                row->usage = utilization.gpu;
        read_memory(nvml, device, row);
        ald_nvml_read_live(nvml, device, row);
        read_processes(nvml, device, row);
        read_architecture(reading, device, row);
        read_instances(reading, device, row);
        read_links(reading, device, row->id);
}

static void read_device(Reading *reading, const char *id)
{
        AldNvmlDevice row = ALD_NVML_DEVICE_INIT;
        AldNvmlHandle *device = NULL;
        int result = find_handle(reading->nvml, reading->by_index, id, &device);

        row.id = id;
        if (result == ALD_NVML_SUCCESS)
                read_fields(reading, device, &row);
        else
                row.error = ald_nvml_explain(reading->nvml, result);
        g_array_append_val(reading->rows, row);
}

/* The lists of an answer besides that of the devices. */
typedef struct Extent {
        bool links;
        unsigned processes; /* at most; 0 for none, and their number is not reported either */
} Extent;

/* Reads what NVML reports about the requested devices. One that NVML does not know has an Error. */
static Reading nvml_read(const AldNvml *nvml, const AldNvmlRequest *request, const Extent *extent)
{
        Reading reading = { .nvml = nvml,
                .by_index = request->by_index,
                .rows = g_array_new(FALSE, FALSE, sizeof(AldNvmlDevice)),
                .links = extent->links ? g_array_new(FALSE, FALSE, sizeof(AldNvLink)) : NULL,
                .processes = { .most = extent->processes },
                .texts = g_string_chunk_new(1024) };
        char version[ALD_NVML_TEXT_MAX] = "";

        if (extent->processes > 0)
                reading.processes.rows = g_array_new(FALSE, FALSE, sizeof(AldNvmlProcess));
        if (nvml->driver_version && nvml->driver_version(version, sizeof version - 1) == ALD_NVML_SUCCESS)
                reading.driver_version = keep_text(&reading, version);
        for (const char *const *id = request->ids; *id; id++)
                read_device(&reading, *id);
        return reading;
}

static void reading_clear(Reading *reading)
{
        g_clear_pointer(&reading->rows, g_array_unref);
        g_clear_pointer(&reading->links, g_array_unref);
        g_clear_pointer(&reading->processes.rows, g_array_unref);
        g_clear_pointer(&reading->texts, g_string_chunk_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Reading, reading_clear)

/* Answers with what was read, as far as the extent goes. Returns -E2BIG or -EMSGSIZE if that is too long. */
static int answer_extent(int answers, const Reading *reading, const Extent *extent)
{
        AldNvmlAnswer answer = ALD_NVML_ANSWER_INIT;
        g_autoptr(AldRecord) answered = NULL;
        int r;

        answer.driver_version = reading->driver_version;
        answer.devices.items = reading->rows->data;
        answer.devices.n = reading->rows->len;
        if (extent->links) {
                answer.links = true;
                answer.nv_links.items = reading->links->data;
                answer.nv_links.n = reading->links->len;
        }
        if (extent->processes > 0) {
                const GArray *processes = reading->processes.rows;

                answer.processes.items = processes->data;
                answer.processes.n = MIN(processes->len, extent->processes);
                answer.unlisted_processes = reading->processes.unlisted + processes->len - answer.processes.n;
        }
        r = ald_record_new(ALD_KIND_NVML_ANSWER, &answer, &answered);
        return r < 0 ? r : ald_child_side_answer(answers, ALD_KIND_NVML_ANSWER, ald_record_fields(answered));
}

/* alidade-nvml queries NVIDIA's library outside the daemon, since a driver may hang or crash. */

#define DATA_MAX (UINT64_C(512) * 1024 * 1024)
#define REQUEST_MAX 8192u

/* The lists of processes take longer than the figures, and change less. */
#define PROCESSES_EVERY_USEC (INT64_C(4500) * 1000)

/* Answers with an error and exits without the library's own clean-up, which may hang as well. A driver's text
 * need not be UTF-8. */
static void exit_with_error(int answers, const char *error)
{
        AldNvmlAnswer answer = ALD_NVML_ANSWER_INIT;
        char reason[ALD_MESSAGE_STRING_MAX];

        snprintf(reason, sizeof reason, "%s", error);
        answer.error = g_utf8_validate(reason, -1, NULL) ? reason : "the driver gives no readable reason";
        (void) ald_child_side_answer(answers, ALD_KIND_NVML_ANSWER, &answer);
        _exit(EXIT_FAILURE);
}

/* Makes an answer that was too long shorter. Links are rarely asked for, and processes can wait for the next
 * answer. Returns false if it lists nothing that could be left out. */
static bool reduce_extent(Extent *extent, GHashTable *listed)
{
        if (extent->links && extent->processes > 0) {
                extent->processes = 0;
                g_hash_table_remove_all(listed);
        } else if (extent->links)
                extent->links = false;
        else if (extent->processes > 0)
                extent->processes /= 2;
        else
                return false;
        return true;
}

/* Returns whether the processes of one of these devices are to be listed now; if so, those of all are.
 * `listed` has when they last were. */
static bool is_list_due(GHashTable *listed, const char *const *ids, gint64 now)
{
        bool due = false;

        for (const char *const *id = ids; *id && !due; id++) {
                const gint64 *last = g_hash_table_lookup(listed, *id);

                due = !last || now - *last >= PROCESSES_EVERY_USEC;
        }
        for (const char *const *id = ids; *id && due; id++)
                g_hash_table_insert(listed, g_strdup(*id), g_memdup2(&now, sizeof now));
        return due;
}

/* Answers one request, at the time `now` of CLOCK_MONOTONIC. */
static int answer_request(
        int answers, const AldNvml *nvml, const char *text, size_t length, gint64 now, GHashTable *listed)
{
        g_autoptr(AldRecord) asked = NULL;
        g_auto(Reading) reading = {};
        Extent extent = {};
        const AldNvmlRequest *request;
        int r;

        r = ald_message_parse(ALD_KIND_NVML_REQUEST, text, length, REQUEST_MAX, &asked, NULL);
        if (r < 0)
                return r;
        request = ald_record_as(asked, NVML_REQUEST, AldNvmlRequest);
        extent.processes = is_list_due(listed, request->ids, now) ? ALD_NVML_PROCESSES_MAX : 0;
        extent.links = request->links == 1;
        reading = nvml_read(nvml, request, &extent);
        do
                r = answer_extent(answers, &reading, &extent);
        while ((r == -EMSGSIZE || r == -E2BIG) && reduce_extent(&extent, listed));
        return r;
}

int main(void)
{
        int answers = ald_child_side_begin(DATA_MAX), result;
        char request[REQUEST_MAX];
        const char *reason;
        ssize_t length;
        AldNvml nvml;
        g_autoptr(GHashTable) listed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

        if (answers < 0)
                return EXIT_FAILURE;
        /* The library is loaded after the first request, so that the deadline of the request covers
         * loading. */
        length = ald_child_side_request(request, sizeof request);
        if (length <= 0)
                return EXIT_SUCCESS;
        reason = ald_nvml_load(&nvml);
        if (reason)
                exit_with_error(answers, reason);
        result = ald_nvml_init(&nvml);
        if (result != ALD_NVML_SUCCESS) {
                g_autofree char *error = g_strdup_printf(
                        "NVML: %s (error %d)", ald_nvml_explain(&nvml, result), result);

                exit_with_error(answers, error);
        }

        do
                if (answer_request(answers, &nvml, request, (size_t) length, g_get_monotonic_time(), listed) <
                        0)
                        _exit(EXIT_FAILURE);
        while ((length = ald_child_side_request(request, sizeof request)) > 0);
        _exit(EXIT_SUCCESS);
}
