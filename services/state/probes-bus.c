/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "common/excerpt.h"
#include "record/record-bus.h"
#include "services/state/devices.h"
#include "services/state/links.h"
#include "services/state/probes-bus.h"

#define PROBES_DEFAULT 16u
#define PROBES_MAX 256u
#define OPTION_MAX 4096u /* entries of one option */

/* The options, which point into the message. */
typedef struct Options {
        GArray *traffic; /* of AldPlannerTraffic */
        GArray *avoid;   /* of AldId */
        GArray *paths;   /* of const char *, not to be probed */
        GArray *devices; /* the same */
        bool kinds[ALD_N_KINDS];
        uint64_t bytes_per_hour;
} Options;

static int read_traffic(sd_bus_message *message, Options *options)
{
        AldPlannerTraffic traffic;
        int r;

        r = sd_bus_message_enter_container(message, 'a', "{st}");
        if (r < 0)
                return r;
        while ((r = sd_bus_message_read(message, "{st}", &traffic.interface, &traffic.bits_per_second)) > 0) {
                if (options->traffic->len >= OPTION_MAX)
                        return -E2BIG;
                g_array_append_val(options->traffic, traffic);
        }
        return r < 0 ? r : sd_bus_message_exit_container(message);
}

static int read_avoid(sd_bus_message *message, Options *options)
{
        const char *peer;
        AldId id;
        int r;

        r = sd_bus_message_enter_container(message, 'a', "s");
        if (r < 0)
                return r;
        while ((r = sd_bus_message_read(message, "s", &peer)) > 0) {
                if (ald_id_parse(peer, &id) < 0)
                        return -EINVAL;
                if (options->avoid->len >= OPTION_MAX)
                        return -E2BIG;
                g_array_append_val(options->avoid, id);
        }
        return r < 0 ? r : sd_bus_message_exit_container(message);
}

static int read_strings(sd_bus_message *message, GArray *strings)
{
        const char *string;
        int r;

        r = sd_bus_message_enter_container(message, 'a', "s");
        if (r < 0)
                return r;
        while ((r = sd_bus_message_read(message, "s", &string)) > 0) {
                if (strings->len >= OPTION_MAX)
                        return -E2BIG;
                g_array_append_val(strings, string);
        }
        return r < 0 ? r : sd_bus_message_exit_container(message);
}

static int read_devices(sd_bus_message *message, Options *options)
{
        return read_strings(message, options->devices);
}

static int read_paths(sd_bus_message *message, Options *options)
{
        return read_strings(message, options->paths);
}

static int read_kinds(sd_bus_message *message, Options *options)
{
        const char *name;
        int r;

        memset(options->kinds, 0, sizeof options->kinds);
        r = sd_bus_message_enter_container(message, 'a', "s");
        if (r < 0)
                return r;
        while ((r = sd_bus_message_read(message, "s", &name)) > 0) {
                int kind = ald_kind_from_name(name);

                if (kind < 0 || ald_planner_ttl((AldKind) kind) == 0)
                        return -EINVAL;
                options->kinds[kind] = true;
        }
        return r < 0 ? r : sd_bus_message_exit_container(message);
}

static int read_bytes(sd_bus_message *message, Options *options)
{
        return sd_bus_message_read(message, "t", &options->bytes_per_hour);
}

static const struct {
        const char *name;
        const char *signature;
        int (*read)(sd_bus_message *message, Options *options);
} readers[] = {
        { "Traffic", "a{st}", read_traffic },
        { "Avoid", "as", read_avoid },
        { "AvoidPaths", "as", read_paths },
        { "BytesPerHour", "t", read_bytes },
        { "Kinds", "as", read_kinds },
        { "AvoidDevices", "as", read_devices },
};

static int read_option(sd_bus_message *message, Options *options, const char *name)
{
        for (size_t i = 0; i < G_N_ELEMENTS(readers); i++) {
                int r;

                if (!g_str_equal(name, readers[i].name))
                        continue;
                r = sd_bus_message_enter_container(message, 'v', readers[i].signature);
                if (r < 0)
                        return r == -ENXIO ? -EINVAL : r;
                r = readers[i].read(message, options);
                return r < 0 ? r : sd_bus_message_exit_container(message);
        }
        return -EINVAL;
}

static int read_options(sd_bus_message *message, Options *options, sd_bus_error *error)
{
        const char *name;
        int r;

        r = sd_bus_message_enter_container(message, 'a', "{sv}");
        while (r >= 0 && (r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
                r = sd_bus_message_read(message, "s", &name);
                if (r >= 0)
                        r = read_option(message, options, name);
                if (r == -EINVAL || r == -E2BIG) {
                        g_autofree char *excerpt = ald_excerpt(name);
                        return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
                                "Option %s is unknown, too long, or has an invalid type or value", excerpt);
                }
                if (r >= 0)
                        r = sd_bus_message_exit_container(message);
        }
        return r;
}

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

/* Returns how many, or an error. */
static int append_devices(sd_bus_message *reply, AldStateManager *manager, size_t max, const Options *options)
{
        const AldNode *node = ald_store_local_node(ald_state_manager_store(manager));
        AldDeviceInput input = {
                .max = max,
                .avoid = (const char *const *) options->devices->data,
                .n_avoid = options->devices->len,
        };
        g_autoptr(GArray) devices = ald_devices_due(manager, &input);
        int r = 0;

        for (guint i = 0; r >= 0 && i < devices->len; i++)
                r = append_device(reply, &node->id, &g_array_index(devices, AldDueDevice, i));
        return r < 0 ? r : (int) devices->len;
}

static int append_paths(sd_bus_message *reply, AldStateManager *manager, size_t max, const Options *options)
{
        AldPlannerInput input = {
                .bytes_per_hour = options->bytes_per_hour,
                .max = max,
                .traffic = (const AldPlannerTraffic *) options->traffic->data,
                .n_traffic = options->traffic->len,
                .avoid = (const AldId *) options->avoid->data,
                .n_avoid = options->avoid->len,
                .avoid_paths = (const char *const *) options->paths->data,
                .n_avoid_paths = options->paths->len,
                .without = { [ALD_KIND_LINK_SOCKET] = !options->kinds[ALD_KIND_LINK_SOCKET],
                        [ALD_KIND_LINK_RDMA] = !options->kinds[ALD_KIND_LINK_RDMA] },
        };
        g_autoptr(GArray) probes = ald_links_due(manager, &input);
        int r = 0;

        for (guint i = 0; r >= 0 && i < probes->len; i++)
                r = append_probe(reply, &g_array_index(probes, AldDueProbe, i));
        return r;
}

static int append_probes(
        sd_bus_message *reply, AldStateManager *manager, uint64_t max, const Options *options)
{
        size_t room = max == 0 ? PROBES_DEFAULT : MIN(max, PROBES_MAX);
        int r;

        r = sd_bus_message_open_container(reply, 'a', "a{sv}");
        if (r >= 0 && options->kinds[ALD_KIND_COMPUTE]) {
                r = append_devices(reply, manager, room, options);
                room -= (size_t) MAX(r, 0);
        }
        if (r >= 0 && (options->kinds[ALD_KIND_LINK_SOCKET] || options->kinds[ALD_KIND_LINK_RDMA]))
                r = append_paths(reply, manager, room, options);
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

int ald_probes_bus_answer(
        sd_bus_message *call, AldStateManager *manager, sd_bus_message *reply, sd_bus_error *error)
{
        g_autoptr(GArray) traffic = g_array_new(FALSE, FALSE, sizeof(AldPlannerTraffic));
        g_autoptr(GArray) avoid = g_array_new(FALSE, FALSE, sizeof(AldId));
        g_autoptr(GArray) paths = g_array_new(FALSE, FALSE, sizeof(const char *));
        g_autoptr(GArray) devices = g_array_new(FALSE, FALSE, sizeof(const char *));
        Options options = {
                .traffic = traffic,
                .avoid = avoid,
                .paths = paths,
                .devices = devices,
                .kinds = { [ALD_KIND_COMPUTE] = true,
                        [ALD_KIND_LINK_SOCKET] = true,
                        [ALD_KIND_LINK_RDMA] = true },
        };
        uint64_t max;
        int r;

        r = sd_bus_message_read(call, "t", &max);
        if (r >= 0)
                r = read_options(call, &options, error);
        return r < 0 ? r : append_probes(reply, manager, max, &options);
}
