/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/state/probes-bus.h"
#include "record/record-bus.h"
#include "services/common/arguments.h"
#include "services/state/probed.h"

#define PROBES_DEFAULT 16u
#define PROBES_MAX 256u

static int append_probe(sd_bus_message *reply, const AldDueProbe *probe)
{
        char peer[ALD_ID_STRING_SIZE];
        const AldDueProbeRow row = {
                .kind = ald_kinds[probe->kind].name,
                .peer = ald_id_format(&probe->peer, peer),
                .address = probe->device ?: probe->address,
                .interface = probe->interface,
                .source_port = probe->source_port,
                .sink_port = probe->sink_port,
                .scope = probe->device ? NULL : ald_link_scope_to_string(probe->scope),
                .overdue = probe->overdue ? 1 : ALD_ABSENT_BOOLEAN,
                .despite_traffic = probe->despite_traffic ? 1 : ALD_ABSENT_BOOLEAN,
                .despite_work = probe->despite_work ? 1 : ALD_ABSENT_BOOLEAN,
                .brief = probe->brief ? 1 : ALD_ABSENT_BOOLEAN,
                .reason = ald_due_reason_to_string(probe->reason),
                .due_since_usec = probe->since,
        };

        return ald_record_bus_append_struct(reply, &ald_due_probe_row_struct, &row);
}

static size_t count(const char *const *list)
{
        return list ? g_strv_length((char **) list) : 0;
}

static AldId *parse_ids(const char *const *texts)
{
        AldId *ids = g_new(AldId, count(texts) + 1);

        for (size_t i = 0; i < count(texts); i++)
                (void) ald_id_parse(texts[i], &ids[i]);
        return ids;
}

static int append_probes(
        sd_bus_message *reply, AldStateManager *manager, uint64_t max, const AldDueProbeOptions *options)
{
        const AldNumberEntry *entries = options->traffic.items;
        g_autofree AldPlannerTraffic *traffic = g_new(AldPlannerTraffic, options->traffic.n + 1);
        g_autofree AldId *avoid = parse_ids(options->avoid);
        AldPlannerInput input = {
                .bytes_per_hour = options->bytes_per_hour,
                .max = max == 0 ? PROBES_DEFAULT : MIN(max, PROBES_MAX),
                .traffic = traffic,
                .n_traffic = options->traffic.n,
                .avoid = avoid,
                .n_avoid = count(options->avoid),
                .deferred_paths = options->avoid_paths,
                .n_deferred_paths = count(options->avoid_paths),
                .avoid_devices = options->avoid_devices,
                .n_avoid_devices = count(options->avoid_devices),
        };
        g_autoptr(GArray) probes = NULL;
        int r;

        for (size_t i = 0; i < options->traffic.n; i++)
                traffic[i] = (AldPlannerTraffic){ entries[i].name, entries[i].value };
        for (size_t i = 0; options->kinds && i < G_N_ELEMENTS(input.without); i++)
                input.without[i] = !g_strv_contains(options->kinds, ald_kinds[i].name);
        probes = ald_probed_due(manager, &input);
        r = sd_bus_message_open_container(reply, 'a', "a{sv}");
        for (guint i = 0; r >= 0 && i < probes->len; i++)
                r = append_probe(reply, &g_array_index(probes, AldDueProbe, i));
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
