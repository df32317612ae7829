/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/common/format.h"
#include "clients/common/node-summary.h"
#include "clients/common/safe-text.h"
#include "clients/common/words.h"
#include "record/character.h"
#include "record/id.h"
#include "record/record-source.h"
#include "record/translate.h"
#include "state/compute/compute-summary.h"
#include "state/compute/doubts.h"
#include "state/compute/opencl-driver.h"
#include "state/link/interface-roles.h"

/* Every record is sent again at least every 30 s. */
#define RESEND_USEC 30e6
#define SILENT_USEC 45e6
#define LOST_USEC 300e6

static char *shorten_id(const char *id)
{
        g_autofree char *safe = ald_text_safe(id);

        return g_utf8_substring(safe, 0, MIN(g_utf8_strlen(safe, -1), ALD_SHORT_ID_DIGITS));
}

/* Returns a safe copy of the name without leading and trailing spaces of any script. */
static char *strip_name(const char *name)
{
        g_autofree char *safe = ald_text_safe(name);
        const char *start = safe, *end = safe + strlen(safe);

        while (g_unichar_isspace(g_utf8_get_char(start)))
                start = g_utf8_next_char(start);
        while (end > start && g_unichar_isspace(g_utf8_get_char(g_utf8_prev_char(end))))
                end = g_utf8_prev_char(end);
        return g_strndup(start, (gsize) (end - start));
}

char *ald_node_label(const char *name, const char *id)
{
        g_autofree char *label = name ? strip_name(name) : NULL, *digits = shorten_id(id);

        if (!label || !ald_characters_are_visible(label))
                return g_steal_pointer(&digits);
        /* The name could be mistaken for the id of another node. */
        if (ald_id_reads_like(label))
                return g_strdup_printf("%s (%s)", label, digits);
        return g_steal_pointer(&label);
}

char *ald_entity_label(const AldEntity *entity)
{
        return entity->is_link ? ald_text_safe(entity->id)
                               : ald_node_label(ald_entity_name(entity), entity->id);
}

char *ald_node_name(AldModel *model, const char *id)
{
        const AldEntity *node = ald_model_get(model, id);

        if (node)
                return ald_entity_label(node);
        return id ? shorten_id(id) : NULL;
}

static const AldPresence *presence_of(const AldEntity *node)
{
        return ald_entity_as(node, PRESENCE, AldPresence);
}

double ald_node_now(const AldEntity *node, double now_usec)
{
        const AldPresence *presence = presence_of(node);
        double offset = presence ? ald_int64_to_double(presence->clock_offset_usec) : (double) NAN;

        return isnan(offset) ? now_usec : now_usec + offset;
}

/* The tone of each AldPresenceState, and whether its node does not count. */
static const struct {
        AldTone tone;
        bool excluded;
} state_traits[ALD_PRESENCE_STATE_N] = {
        [ALD_PRESENCE_STATE_ONLINE] = { ALD_TONE_GOOD, false },
        [ALD_PRESENCE_STATE_STALE] = { ALD_TONE_WARNING, false },
        [ALD_PRESENCE_STATE_OFFLINE] = { ALD_TONE_ERROR, true },
        [ALD_PRESENCE_STATE_DUPLICATE] = { ALD_TONE_ERROR, true },
        [ALD_PRESENCE_STATE_UNKNOWN] = { ALD_TONE_WARNING, true },
};

/* Returns ALD_PRESENCE_STATE_N without a presence, and for a state that this version does not know. */
static AldPresenceState state_of(const AldPresence *presence)
{
        AldPresenceState state = 0;

        while (state < ALD_PRESENCE_STATE_N &&
                (!presence || g_strcmp0(presence->state, ald_presence_state_to_string(state)) != 0))
                state++;
        return state;
}

static bool is_excluded(AldPresenceState state)
{
        return state != ALD_PRESENCE_STATE_N && state_traits[state].excluded;
}

char *ald_format_record_age(const AldEntity *source, double updated_usec, double now_usec)
{
        bool heard = !is_excluded(state_of(presence_of(source)));

        return heard && now_usec - updated_usec < RESEND_USEC ? g_strdup(_("live"))
                                                              : ald_format_age(updated_usec, now_usec);
}

const char *ald_node_exclusion(AldModel *model, const AldEntity *node)
{
        AldPresenceState state = state_of(presence_of(node));

        if (!is_excluded(state) || g_strcmp0(node->id, ald_model_node_id(model)) == 0)
                return NULL;
        return ald_presence_state_to_string(state);
}

bool ald_node_is_stale(AldModel *model, const AldEntity *node)
{
        return state_of(presence_of(node)) == ALD_PRESENCE_STATE_STALE &&
               g_strcmp0(node->id, ald_model_node_id(model)) != 0;
}

/* Returns "online, 35 s ago"; only the state if the time is absent. */
static char *format_heard(AldPresenceState state, double then_usec, double now_usec)
{
        const char *word = ald_word(ald_presence_state_to_string(state));
        g_autofree char *ago = ald_format_age(then_usec, now_usec);

        return isnan(then_usec) ? g_strdup(word) : g_strdup_printf("%s, %s", word, ago);
}

/* Returns "offline for 5 min" or "offline since 2025-03-01". */
static char *format_since(AldPresenceState state, double since_usec, double now_usec)
{
        const char *word = ald_word(ald_presence_state_to_string(state));
        g_autofree char *duration = ald_format_whole_unit(now_usec - since_usec);
        g_autofree char *date = ald_duration_is_far(now_usec - since_usec) ? ald_format_date(since_usec)
                                                                           : NULL;

        /* Translators: a state, such as "offline", and the date on which it began. */
        if (date)
                return g_strdup_printf(_("%s since %s"), word, date);
        /* Translators: a state, such as "offline", and how long it has lasted. */
        return duration ? g_strdup_printf(_("%s for %s"), word, duration) : g_strdup(word);
}

static AldTone tone_of_age(double age)
{
        if (isnan(age))
                return ALD_TONE_PLAIN;
        return age > LOST_USEC ? ALD_TONE_ERROR : age > SILENT_USEC ? ALD_TONE_WARNING : ALD_TONE_GOOD;
}

/* Returns when the node last sent a record; if only its telemetry service is silent, when that last sent one,
 * since the figures are that old. */
static double last_update(const AldEntity *node)
{
        const AldRecordSource *source = &ald_record_sources[ALD_RECORD_SOURCE_TELEMETRY];
        uint64_t updated = ald_entity_updated(node), newest = 0;

        for (unsigned i = 0; i < source->n_kinds; i++) {
                const AldRecord *record = ald_entity_record(node, source->kinds[i]);

                if (record)
                        newest = MAX(newest, record->updated_usec);
        }
        return ald_uint64_to_double(
                newest > 0 && updated - newest > ALD_RECORD_SOURCE_SILENT_USEC ? newest : updated);
}

char *ald_format_seen(const AldEntity *node, double now_usec, AldTone *ret_tone)
{
        double updated = last_update(node), now = ald_node_now(node, now_usec);
        const AldPresence *presence = presence_of(node);
        AldPresenceState state = state_of(presence);
        double since = presence ? ald_uint64_to_double(presence->since_usec) : (double) NAN,
               age = now - updated;
        bool online = state == ALD_PRESENCE_STATE_ONLINE;

        *ret_tone = state == ALD_PRESENCE_STATE_N || (online && age > SILENT_USEC) ? tone_of_age(age)
                                                                                   : state_traits[state].tone;
        if (state == ALD_PRESENCE_STATE_N)
                return ald_format_record_age(node, updated, now);
        /* Records do not show when a node was last heard, since they are sent only when they change. A time
         * in the future comes from a clock that has been set since. */
        if ((state_traits[state].excluded || state == ALD_PRESENCE_STATE_STALE) && since <= now_usec)
                return format_since(state, since, now_usec);
        if (state == ALD_PRESENCE_STATE_UNKNOWN || (online && age < RESEND_USEC))
                return format_heard(state, NAN, now);
        return format_heard(state, updated, now);
}

static const AldNodeFigures no_figures = ALD_NODE_FIGURES_INIT;

const char *ald_node_device_id(const AldNodeDevice *device)
{
        return device->backend  ? device->backend->id
               : device->system ? device->system->id
                                : device->compute->id;
}

static const void *find_row(const AldRows *rows, const char *id)
{
        return rows ? ald_rows_find(rows, id) : NULL;
}

GArray *ald_node_devices_counted(const AldEntity *node, guint *ret_n_unlisted)
{
        const AldBackends *backends = ald_entity_as(node, BACKENDS, AldBackends);
        const AldSystem *system = ald_entity_as(node, SYSTEM, AldSystem);
        const AldCompute *compute = ald_entity_as(node, COMPUTE, AldCompute);
        const AldDoubts *doubts = ald_entity_as(node, DOUBTS, AldDoubts);
        const AldRows *const lists[] = { backends ? &backends->devices : NULL,
                system ? &system->devices : NULL, compute ? &compute->devices : NULL };
        GArray *devices = g_array_new(FALSE, FALSE, sizeof(AldNodeDevice));

        *ret_n_unlisted = 0;
        for (size_t l = 0; l < G_N_ELEMENTS(lists); l++)
                for (size_t i = 0; lists[l] && i < lists[l]->n; i++) {
                        /* Id is the first field of all rows. */
                        const char *id = *(const char *const *) ald_rows_at(lists[l], i);
                        AldNodeDevice device = { find_row(lists[0], id), find_row(lists[1], id),
                                find_row(lists[2], id), doubts };

                        /* A list before this one has it. */
                        if ((l > 0 && device.backend) || (l > 1 && device.system))
                                continue;
                        if (devices->len < ALD_NODE_DEVICES_MAX)
                                g_array_append_val(devices, device);
                        else
                                *ret_n_unlisted += 1;
                }
        return devices;
}

GArray *ald_node_devices(const AldEntity *node)
{
        guint n_unlisted;

        return ald_node_devices_counted(node, &n_unlisted);
}

const char *ald_node_device_class(const AldNodeDevice *device)
{
        return device->backend && device->backend->class ? device->backend->class
                                                         : ald_backend_class_to_string(ALD_BACKEND_CLASS_GPU);
}

bool ald_node_device_is_processor(const AldNodeDevice *device)
{
        return strcmp(ald_node_device_class(device), ald_backend_class_to_string(ALD_BACKEND_CLASS_CPU)) == 0;
}

char *ald_node_device_name(const AldNodeDevice *device)
{
        const char *name = device->backend ? device->backend->name : NULL;

        return ald_text_safe(name ? name : ald_node_device_id(device));
}

bool ald_node_device_is_asleep(const AldNodeDevice *device)
{
        return device->system &&
               g_strcmp0(device->system->power_state,
                       ald_device_power_state_to_string(ALD_DEVICE_POWER_STATE_ASLEEP)) == 0;
}

bool ald_node_device_is_unified(const AldNodeDevice *device)
{
        return device->backend && device->backend->unified == 1;
}

/* Returns true if the device is a part of another device, which has a row of its own. */
static bool is_part(const AldNodeDevice *device)
{
        return device->backend && device->backend->parent;
}

char *ald_node_compute(const AldNodeFigures *figures)
{
        g_autofree char *fp32 = ald_format_tflops(figures->tflops_fp32);

        return isnan(figures->tflops) && !isnan(figures->tflops_fp32) ? g_strconcat(fp32, " FP32", NULL)
                                                                      : ald_format_tflops(figures->tflops);
}

const char *ald_power_of_words(AldPowerOf of)
{
        switch (of) {
        case ALD_POWER_OF_METER:
                return _("whole machine, by its meter");
        case ALD_POWER_OF_BATTERY:
                return _("whole machine, by its battery");
        case ALD_POWER_OF_PROCESSORS_AND_GPUS:
                return _("processors + GPUs");
        case ALD_POWER_OF_PROCESSORS:
                return _("processors");
        case ALD_POWER_OF_GPUS:
                return _("GPUs");
        case ALD_POWER_OF_NOTHING:
        case ALD_POWER_OF_N:
                break;
        }
        return NULL;
}

char *ald_node_device_doubts(const AldNodeDevice *device)
{
        const char *id = ald_node_device_id(device);
        bool product = ald_doubts_find(device->doubts, id, ALD_DOUBT_FIELD_GEMMTFLOPS);
        bool memory = ald_doubts_find(device->doubts, id, ALD_DOUBT_FIELD_MEMORYBANDWIDTHBYTESPERSECOND);

        if (product && memory)
                return g_strdup(_("figures not believed"));
        if (product)
                return g_strdup(_("compute not believed"));
        return memory ? g_strdup(_("memory bandwidth not believed")) : NULL;
}

AldNodeFigures ald_node_device_figures(const AldNodeDevice *device)
{
        AldNodeFigures figures = no_figures;

        if (device->backend)
                figures.memory_total = ald_uint64_to_double(device->backend->memory_total_bytes);
        if (device->system) {
                figures.usage = device->system->usage;
                figures.millicelsius = ald_int64_to_double(device->system->temperature_milli_celsius);
                figures.microwatts = ald_uint64_to_double(device->system->power_micro_watts);
                figures.memory_available = figures.memory_total -
                                           ald_uint64_to_double(device->system->memory_used_bytes);
        }
        if (device->compute) {
                figures.tflops = device->compute->tflops_fp16;
                if (ald_compute_has_fp32_only(device->compute))
                        figures.tflops_fp32 = device->compute->gemm_tflops;
                figures.bandwidth = ald_uint64_to_double(device->compute->memory_bandwidth_bytes_per_second);
        }
        if (figures.memory_available < 0)
                figures.memory_available = NAN;
        return figures;
}

char *ald_node_device_remedy(const AldEntity *node, const AldNodeDevice *device)
{
        const AldBackends *backends = ald_entity_as(node, BACKENDS, AldBackends);
        g_autoptr(GPtrArray) packages = ald_opencl_missing_packages(backends);
        const char *package;

        if (!device->backend || !ald_opencl_is_missing(backends, device->backend))
                return NULL;
        package = ald_opencl_package(device->backend);
        if (!package || !g_ptr_array_find_with_equal_func(packages, package, g_str_equal, NULL))
                return NULL;
        /* Translators: the name of a package. */
        return g_strdup_printf(_("install %s to measure it"), package);
}

AldNodeFigures ald_node_figures(const AldEntity *node)
{
        const AldMemory *memory = ald_entity_as(node, MEMORY, AldMemory);
        const AldSystem *system = ald_entity_as(node, SYSTEM, AldSystem);
        const AldBackends *backends = ald_entity_as(node, BACKENDS, AldBackends);
        AldNodeFigures figures = no_figures;
        AldComputeSummary summary;
        uint64_t power;

        if (memory) {
                figures.memory_total = ald_uint64_to_double(memory->total_bytes);
                figures.memory_available = ald_uint64_to_double(memory->available_bytes);
        }
        if (system) {
                figures.usage = system->cpu_usage;
                figures.millicelsius = ald_int64_to_double(system->temperature_milli_celsius);
        }
        figures.power_of = ald_node_power(backends, system, &power);
        figures.microwatts = ald_uint64_to_double(power);
        ald_compute_summary(backends, ald_entity_as(node, COMPUTE, AldCompute),
                ald_entity_as(node, DOUBTS, AldDoubts), &summary);
        figures.tflops = summary.tflops_fp16;
        figures.tflops_fp32 = summary.tflops_fp32;
        figures.bandwidth = ald_uint64_to_double(summary.memory_bandwidth_bytes_per_second);
        return figures;
}

void ald_node_figures_forget_samples(AldNodeFigures *figures)
{
        figures->memory_available = figures->usage = figures->millicelsius = figures->microwatts = NAN;
        figures->power_of = ALD_POWER_OF_NOTHING;
}

double ald_node_figures_used(const AldNodeFigures *figures)
{
        double used = 1 - figures->memory_available / figures->memory_total;

        return used >= 0 && used <= 1 ? used : (double) NAN;
}

/* Adds two values; an unknown one counts as 0 unless both are unknown. */
static double add_known(double sum, double value)
{
        return isnan(sum) ? value : isnan(value) ? sum : sum + value;
}

AldGpuSummary ald_gpu_summary(const AldEntity *node)
{
        g_autoptr(GArray) devices = ald_node_devices(node);
        AldGpuSummary summary = { .known = ald_entity_record(node, ALD_KIND_BACKENDS), .usage = NAN };
        unsigned n_usage = 0;

        for (guint i = 0; i < devices->len; i++) {
                const AldNodeDevice *device = &g_array_index(devices, AldNodeDevice, i);
                double usage = ald_node_device_figures(device).usage;

                if (ald_node_device_is_processor(device) || is_part(device))
                        continue;
                summary.n++;
                summary.n_asleep += ald_node_device_is_asleep(device);
                n_usage += !isnan(usage);
                summary.usage = add_known(summary.usage, usage);
        }
        if (n_usage > 0)
                summary.usage /= n_usage;
        return summary;
}

/* Returns true for an address that does not help to reach the node. */
static bool is_local_address(const char *address)
{
        return g_str_has_prefix(address, "fe80:") || g_str_has_prefix(address, "169.254.") ||
               g_str_has_prefix(address, "127.") || g_str_has_prefix(address, "::1/");
}

static void append_addresses(GString *out, const AldInterface *interface)
{
        for (const char *const *address = interface->addresses; address && *address; address++) {
                g_autofree char *safe = NULL;

                if (is_local_address(*address))
                        continue;
                safe = ald_text_safe(*address);
                *strchrnul(safe, '/') = '\0';
                g_string_append_printf(out, "%s%s", out->len > 0 ? " " : "", safe);
        }
}

/* The addresses of veth interfaces belong to the containers of a host; but a container has only such
 * interfaces. */
static void append_interfaces(GString *out, const AldNetwork *network, bool veth)
{
        for (size_t i = 0; i < network->interfaces.n; i++) {
                const AldInterface *interface = ald_rows_at(&network->interfaces, i);

                if (!ald_interface_is(interface, ALD_INTERFACE_TYPE_LOOPBACK) &&
                        ald_interface_is(interface, ALD_INTERFACE_TYPE_VETH) == veth)
                        append_addresses(out, interface);
        }
}

char *ald_node_addresses(const AldEntity *node)
{
        const AldNetwork *network = ald_entity_as(node, NETWORK, AldNetwork);
        g_autoptr(GString) out = g_string_new(NULL);

        if (network)
                append_interfaces(out, network, false);
        if (network && out->len == 0)
                append_interfaces(out, network, true);
        return out->len > 0 ? g_string_free(g_steal_pointer(&out), FALSE) : NULL;
}
