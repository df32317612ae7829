/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/state/probes-bus.h"
#include "record/record-bus.h"
#include "services/common/arguments.h"
#include "services/state/devices.h"
#include "services/state/links.h"

#define PROBES_DEFAULT 16u
#define PROBES_MAX 256u
static int append_probe(sd_bus_message *reply, const AldDueProbe *probe)
{
        char peer[ALD_ID_STRING_SIZE];
        const AldDueProbeRow row = {
                .kind = ald_kinds[probe->kind].name,
                .peer = ald_id_format(&probe->peer, peer),
                .address = probe->address,
                .interface = probe->interface,
                .source_port = probe->source_port,
                .sink_port = probe->sink_port,
                .scope = ald_link_scope_to_string(probe->scope),
                .overdue = probe->overdue ? 1 : ALD_ABSENT_BOOLEAN,
                .despite_traffic = probe->despite_traffic ? 1 : ALD_ABSENT_BOOLEAN,
                .brief = probe->brief ? 1 : ALD_ABSENT_BOOLEAN,
                .reason = ald_due_reason_to_string(probe->reason),
                .due_since_usec = probe->since,
        };

        return ald_record_bus_append_struct(reply, &ald_due_probe_row_struct, &row);
}

static int append_device(sd_bus_message *reply, const AldId *own, const AldDueDevice *device)
{
        char id[ALD_ID_STRING_SIZE];
        const AldDueProbeRow row = {
                .kind = ald_kinds[ALD_KIND_COMPUTE].name,
                .peer = ald_id_format(own, id),
                .address = device->id,
                .overdue = ALD_ABSENT_BOOLEAN,
                .despite_traffic = ALD_ABSENT_BOOLEAN,
                .brief = ALD_ABSENT_BOOLEAN,
                .reason = ald_due_reason_to_string(device->reason),
                .due_since_usec = device->since,
        };

        return ald_record_bus_append_struct(reply, &ald_due_probe_row_struct, &row);
}

static size_t count(const char *const *list)
{
        return list ? g_strv_length((char **) list) : 0;
}

/* Returns how many, or an error. */
static int append_devices(
        sd_bus_message *reply, AldStateManager *manager, size_t max, const AldDueProbeOptions *options)
{
        const AldNode *node = ald_store_local_node(ald_state_manager_store(manager));
        AldDeviceInput input = {
                .max = max,
                .avoid = options->avoid_devices,
                .n_avoid = count(options->avoid_devices),
        };
        g_autoptr(GArray) devices = ald_devices_due(manager, &input);
        int r = 0;

        for (guint i = 0; r >= 0 && i < devices->len; i++)
                r = append_device(reply, &node->id, &g_array_index(devices, AldDueDevice, i));
        return r < 0 ? r : (int) devices->len;
}

static bool is_wanted(const AldDueProbeOptions *options, AldKind kind)
{
        return !options->kinds || g_strv_contains(options->kinds, ald_kinds[kind].name);
}

static AldId *parse_ids(const char *const *texts)
{
        AldId *ids = g_new(AldId, count(texts) + 1);

        for (size_t i = 0; i < count(texts); i++)
                (void) ald_id_parse(texts[i], &ids[i]);
        return ids;
}

static int append_paths(
        sd_bus_message *reply, AldStateManager *manager, size_t max, const AldDueProbeOptions *options)
{
        const AldNumberEntry *entries = options->traffic.items;
        g_autofree AldPlannerTraffic *traffic = g_new(AldPlannerTraffic, options->traffic.n + 1);
        g_autofree AldId *avoid = parse_ids(options->avoid);
        AldPlannerInput input = {
                .bytes_per_hour = options->bytes_per_hour,
                .max = max,
                .traffic = traffic,
                .n_traffic = options->traffic.n,
                .avoid = avoid,
                .n_avoid = count(options->avoid),
                .avoid_paths = options->avoid_paths,
                .n_avoid_paths = count(options->avoid_paths),
                .without = { [ALD_KIND_LINK_SOCKET] = !is_wanted(options, ALD_KIND_LINK_SOCKET),
                        [ALD_KIND_LINK_RDMA] = !is_wanted(options, ALD_KIND_LINK_RDMA) },
        };
        g_autoptr(GArray) probes = NULL;
        int r = 0;

        for (size_t i = 0; i < options->traffic.n; i++)
                traffic[i] = (AldPlannerTraffic){ entries[i].name, entries[i].value };
        probes = ald_links_due(manager, &input);
        for (guint i = 0; r >= 0 && i < probes->len; i++)
                r = append_probe(reply, &g_array_index(probes, AldDueProbe, i));
        return r;
}

static int append_probes(
        sd_bus_message *reply, AldStateManager *manager, uint64_t max, const AldDueProbeOptions *options)
{
        size_t room = max == 0 ? PROBES_DEFAULT : MIN(max, PROBES_MAX);
        int r;

        r = sd_bus_message_open_container(reply, 'a', "a{sv}");
        if (r >= 0 && is_wanted(options, ALD_KIND_COMPUTE)) {
                r = append_devices(reply, manager, room, options);
                room -= (size_t) MAX(r, 0);
        }
        if (r >= 0 && (is_wanted(options, ALD_KIND_LINK_SOCKET) || is_wanted(options, ALD_KIND_LINK_RDMA)))
                r = append_paths(reply, manager, room, options);
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

int ald_probes_bus_answer(
        sd_bus_message *call, AldStateManager *manager, sd_bus_message *reply, sd_bus_error *error)
{
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        AldDueProbeOptions options;
        uint64_t max;
        int r;

        r = sd_bus_message_read(call, "t", &max);
        if (r >= 0)
                r = ald_arguments_read(call, &ald_due_probe_options_struct, owned, &options, error);
        return r < 0 ? r : append_probes(reply, manager, max, &options);
}
