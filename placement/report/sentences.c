/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "placement/plan/buffers.h"
#include "placement/plan/method.h"
#include "placement/report/sentences.h"
#include "record/figure-text.h"

#define ID_DIGITS 8

char *ald_plan_node_label(const AldPlanNode *node)
{
        return node->name ? g_strdup(node->name) : g_strndup(node->id, ID_DIGITS);
}

static char *format_size(double bytes)
{
        return ald_format_figure(&ald_unit_bytes, bytes);
}

/* Formats a duration. A change may save less than nothing, so it may be negative. */
static char *format_duration(double nsec)
{
        g_autofree char *text = ald_format_figure(&ald_unit_nanoseconds, fabs(nsec));

        return g_strconcat(nsec < 0 ? "-" : "", text, NULL);
}

static char *say_needless(const AldPlanMethod *method, const AldPlanVerdict *verdict)
{
        g_autofree char *costs = format_duration(verdict->costs_nsec);
        g_autofree char *saves = format_duration(verdict->saves_nsec);

        /* If the number of stages is kept, an additional device is only compared in small plans. */
        if (isnan(verdict->saves_nsec) && method->keeps_count)
                return g_strdup("Whether it would save time was not tried, as the plan is large.");
        if (isnan(verdict->saves_nsec) || isnan(verdict->costs_nsec))
                return g_strdup("It would not give more tokens per second.");
        if (verdict->saves_nsec <= 0 && verdict->costs_nsec <= 0)
                return g_strdup("It is slower than the devices of the plan.");
        if (verdict->saves_nsec <= 0)
                return g_strdup_printf(
                        "It is slower than the devices of the plan, and its transfers would cost %s.", costs);
        return g_strdup_printf("Its transfers would cost %s, and its layers save %s.", costs, saves);
}

/* The number of ranks is given, whatever their speed. */
static char *say_ranks_limited(const AldPlanVerdict *verdict)
{
        g_autofree char *costs = format_duration(verdict->costs_nsec);

        if (isnan(verdict->costs_nsec))
                return g_strdup("The number of ranks is limited.");
        if (verdict->costs_nsec <= 0)
                return g_strdup(
                        "The number of ranks is limited, and it would not make an all-reduce faster.");
        return g_strdup_printf(
                "The number of ranks is limited, and an all-reduce would take %s longer with it.", costs);
}

static char *say_unmeasured(const char *what, const AldPlanDevice *device)
{
        const AldComputeDevice *measured = device->measured;
        const char *why = !measured ? NULL : measured->failure ? measured->failure : measured->waiting_reason;

        if (device->opencl_package)
                return g_strdup_printf(
                        "%s cannot be measured without an OpenCL driver: install %s there (Debian's name).",
                        what, device->opencl_package);
        if (!why && device->lacks_opencl)
                return g_strdup_printf("%s cannot be measured, as OpenCL does not show it.", what);
        if (!why)
                return g_strdup_printf("%s was not measured.", what);
        return g_strdup_printf("%s was not measured: %s.", what, why);
}

static char *rate_text(const AldDoubt *doubt, double tflops, uint64_t bytes_per_second)
{
        return doubt->bytes_per_second == ALD_ABSENT_UINT64
                       ? ald_format_figure(&ald_unit_teraflops, tflops)
                       : ald_format_figure(&ald_unit_bytes_per_second, (double) bytes_per_second);
}

static char *say_disbelieved(const AldDoubt *doubt)
{
        g_autofree char *rate = rate_text(doubt, doubt->tflops, doubt->bytes_per_second);
        g_autofree char *limit = rate_text(doubt, doubt->limit_tflops, doubt->limit_bytes_per_second);

        switch (ald_doubt_reason_from_string(doubt->reason)) {
        case ALD_DOUBT_REASON_ABOVE_PEAK:
                return g_strdup_printf(
                        "Its rate of matrix products, %s, is not believed: its own peak is %s.", rate, limit);
        case ALD_DOUBT_REASON_ABOVE_THEORETICAL:
                return g_strdup_printf(
                        "Its memory bandwidth, %s, is not believed: its memory can carry %s.", rate, limit);
        default:
                return g_strdup_printf(
                        "Its rate of %s is not believed: equal devices on other nodes reach %s "
                        "at most.",
                        rate, limit);
        }
}

static char *say_too_small(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanDevice *device)
{
        const AldPlanMethod *method = request->engine->method;
        g_autofree char *needs = format_size((double) method->least_bytes(request, device, cluster->n_nodes));
        g_autofree char *free_bytes = format_size((double) device->free_bytes);

        return g_strdup_printf("%s needs %s there, and %s are free.", method->least_part, needs, free_bytes);
}

static char *say_unusable(const AldPlanNode *node)
{
        return g_strdup_printf("Its node is %s.", node->unusable);
}

/* Says why a measured path cannot be used. */
static char *say_unnamed(
        const AldPlanCluster *cluster, const AldPlanEngine *engine, const AldPlanVerdict *verdict)
{
        const AldPlanNode *node = &cluster->nodes[verdict->unnamed_node];
        g_autofree char *label = ald_plan_node_label(node);

        switch (verdict->unnamed) {
        case ALD_PLAN_ADDRESS_UNKNOWN:
                return g_strdup_printf(
                        "commands for %s need the address of %s, which is unknown", engine->name, label);
        case ALD_PLAN_ADDRESS_IPV6:
                return g_strdup_printf("%s takes IPv4 addresses only", engine->name);
        case ALD_PLAN_HOST_NAME_SHARED:
                return g_strdup_printf(
                        "%s has the same host name, %s, as another node, and no IPv4 address of it is known",
                        label, node->host_name);
        case ALD_PLAN_PORT_UNNAMED:
                return g_strdup_printf(
                        "commands for %s cannot have the name of a port of %s", engine->name, label);
        default:
                return g_strdup_printf(
                        "neither a host name nor an %saddress of %s is known that commands for "
                        "%s can have",
                        engine->names == ALD_PLAN_NAMES_HOSTS ? "IPv4 " : "", label, engine->name);
        }
}

char *ald_plan_verdict_sentence(const AldPlanCluster *cluster, const AldPlanRequest *request, uint32_t device,
        const AldPlanVerdict *verdict)
{
        const AldPlanDevice *of = &cluster->devices[device];
        const char *engine = request->engine->name;
        g_autofree char *unnamed = NULL;

        switch (verdict->reason) {
        case ALD_PLAN_SAVES_TOO_LITTLE:
                return request->engine->method->has_layers ? say_needless(request->engine->method, verdict)
                                                           : say_ranks_limited(verdict);
        case ALD_PLAN_UNUSABLE:
                return say_unusable(&cluster->nodes[of->node]);
        case ALD_PLAN_EXCLUDED:
                return g_strdup("The options exclude it.");
        case ALD_PLAN_NOT_FOR_ENGINE:
                return g_strdup_printf(
                        "%s does not run on %s.", engine, of->is_processor ? "processors" : "GPUs");
        case ALD_PLAN_SHARES_MEMORY:
                return g_strdup("Another device that computes in the same memory is used instead.");
        case ALD_PLAN_MEMORY_UNKNOWN:
                return g_strdup("Its free memory is unknown.");
        case ALD_PLAN_DISBELIEVED:
                return say_disbelieved(of->doubt);
        case ALD_PLAN_BANDWIDTH_UNMEASURED:
                return say_unmeasured("Its memory bandwidth", of);
        case ALD_PLAN_COMPUTE_UNMEASURED:
                return say_unmeasured("Its rate of matrix products", of);
        case ALD_PLAN_MEMORY_TOO_SMALL:
                return say_too_small(cluster, request, of);
        case ALD_PLAN_OTHER_VENDOR:
                return g_strdup_printf("%s cannot use GPUs of several vendors together.", engine);
        case ALD_PLAN_NO_ROOM:
                return g_strdup("No layer is left for it, or none fits beside what it would have to hold.");
        case ALD_PLAN_BEYOND_DEVICES_MAX:
                return g_strdup("The number of devices or nodes is limited, and the others are needed for "
                                "their memory.");
        case ALD_PLAN_UNEVEN:
                return g_strdup_printf(
                        "%s needs as many GPUs of each node as of the others; with this one, they differ.",
                        engine);
        case ALD_PLAN_PART_OF_GPU:
                return g_strdup_printf(
                        "It is a part of a GPU; %s is given the numbers of whole ones.", engine);
        case ALD_PLAN_NO_NAMED_PATH:
                unnamed = say_unnamed(cluster, request->engine, verdict);
                return g_strdup_printf("No path between it and the plan can be used: %s.", unnamed);
        case ALD_PLAN_PATHS_UNNAMED:
                unnamed = say_unnamed(cluster, request->engine, verdict);
                return g_strdup_printf("A path to it cannot be used: %s.", unnamed);
        case ALD_PLAN_NO_PATH:
                return g_strdup("No path between it and the plan was measured.");
        case ALD_PLAN_NOT_TRIED:
                return g_strdup("Time was up before it was tried.");
        default:
                return NULL;
        }
}

char *ald_plan_empty_node_sentence(const AldPlanNode *node)
{
        return node->unusable ? say_unusable(node) : g_strdup("It has no compute device.");
}

/* Returns the device with the most room; ALD_PLAN_NONE if none can be used. */
static uint32_t find_roomiest_device(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanRefusal *refusal)
{
        uint32_t best = ALD_PLAN_NONE;

        for (uint32_t i = 0; refusal->verdicts && i < cluster->n_devices; i++)
                if (refusal->verdicts[i].reason == ALD_PLAN_TAKEN &&
                        (best == ALD_PLAN_NONE ||
                                ald_plan_device_room_bytes(request, &cluster->devices[i]) >
                                        ald_plan_device_room_bytes(request, &cluster->devices[best])))
                        best = i;
        return best;
}

static char *say_too_little(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanRefusal *refusal)
{
        g_autofree char *needs = format_size((double) refusal->needs_bytes);
        g_autofree char *free_bytes = format_size((double) refusal->free_bytes);
        g_autofree char *most = NULL, *label = NULL, *lacking = NULL;
        uint32_t device = find_roomiest_device(cluster, request, refusal);

        if (device == ALD_PLAN_NONE)
                return g_strdup_printf("The model needs %s, and no device can be used.", needs);
        most = format_size((double) ald_plan_device_room_bytes(request, &cluster->devices[device]));
        label = ald_plan_node_label(&cluster->nodes[cluster->devices[device].node]);
        lacking = refusal->needs_bytes > refusal->free_bytes
                          ? format_size((double) (refusal->needs_bytes - refusal->free_bytes))
                          : NULL;
        return g_strdup_printf(
                "The model needs %s, and %s are free for it on %u %s, %s%s; %s/%s has the most, %s.", needs,
                free_bytes, refusal->n_devices, refusal->n_devices == 1 ? "device" : "devices",
                lacking ? lacking : "of which not all can be used, as layers are not divided",
                lacking ? " too little" : "", label, cluster->devices[device].id, most);
}

static char *say_no_split_found(const AldPlanRefusal *refusal)
{
        g_autofree char *needs = format_size((double) refusal->needs_bytes);
        g_autofree char *free_bytes = format_size((double) refusal->free_bytes);

        return g_strdup_printf(
                "The model needs %s, and %s are free for it on %u %s, but no split was found by "
                "which its layers fit, although there may be one.",
                needs, free_bytes, refusal->n_devices, refusal->n_devices == 1 ? "device" : "devices");
}

char *ald_plan_more_devices_sentence(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanRefusal *refusal)
{
        uint32_t device = find_roomiest_device(cluster, request, refusal), each;
        uint64_t layers = request->workload->layers, room = 0, n;
        g_autofree char *label = NULL;

        if (refusal->kind != ALD_PLAN_TOO_LITTLE_MEMORY || device == ALD_PLAN_NONE || request->n_pins > 0 ||
                !request->engine->method->spreads_layers)
                return NULL;
        for (uint32_t i = 0; i < cluster->n_devices; i++)
                if (refusal->verdicts[i].reason == ALD_PLAN_TAKEN)
                        room += ald_plan_device_layers_max(request, &cluster->devices[i]);
        each = ald_plan_device_layers_max(request, &cluster->devices[device]);
        /* The layers fit, so something else has no room, such as the head. */
        if (layers <= room)
                return NULL;
        n = (layers - room + each - 1) / each;
        if (request->engine->devices_max > 0 && refusal->n_devices + n > request->engine->devices_max)
                return NULL;
        if (request->devices_max > 0 && refusal->n_devices + n > request->devices_max)
                return NULL;
        label = ald_plan_node_label(&cluster->nodes[cluster->devices[device].node]);
        return g_strdup_printf("By memory alone, it takes at least %" PRIu64
                               " more %s with as much room as %s/%s.",
                n, n == 1 ? "device" : "devices", label, cluster->devices[device].id);
}

/* Returns the node of "node" or "node/device"; ALD_PLAN_NONE if there is none. */
static uint32_t find_named(const AldPlanCluster *cluster, const char *text)
{
        for (uint32_t i = 0; i < cluster->n_nodes; i++) {
                size_t n = strlen(cluster->nodes[i].id);

                if (strncmp(text, cluster->nodes[i].id, n) == 0 && (text[n] == '\0' || text[n] == '/'))
                        return i;
        }
        return ALD_PLAN_NONE;
}

/* Returns the text with the name of the node instead of its id. */
static char *label_of(const AldPlanCluster *cluster, const char *text)
{
        uint32_t node = find_named(cluster, text);
        g_autofree char *label = node == ALD_PLAN_NONE ? NULL : ald_plan_node_label(&cluster->nodes[node]);

        return label ? g_strconcat(label, text + strlen(cluster->nodes[node].id), NULL) : g_strdup(text);
}

static bool is_meant(const AldPlanCluster *cluster, uint32_t device, uint32_t node, const char *text)
{
        const AldPlanDevice *it = &cluster->devices[device];
        const char *rest = text + strlen(cluster->nodes[node].id);

        return it->node == node && (rest[0] == '\0' || g_str_equal(rest + 1, it->id));
}

/* Says why the required devices cannot be used; NULL if their reasons differ. */
static char *say_why_unusable(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanRefusal *refusal)
{
        uint32_t node = find_named(cluster, refusal->text), found = ALD_PLAN_NONE;
        const AldPlanVerdict *verdicts = refusal->verdicts;

        if (node == ALD_PLAN_NONE || !verdicts)
                return NULL;
        for (uint32_t i = 0; i < cluster->n_devices; i++) {
                if (!is_meant(cluster, i, node, refusal->text))
                        continue;
                if (found != ALD_PLAN_NONE && verdicts[i].reason != verdicts[found].reason)
                        return NULL;
                found = i;
        }
        return found == ALD_PLAN_NONE ? ald_plan_empty_node_sentence(&cluster->nodes[node])
                                      : ald_plan_verdict_sentence(cluster, request, found, &verdicts[found]);
}

static char *say_unusable_requirement(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanRefusal *refusal)
{
        g_autofree char *label = NULL, *why = NULL;

        if (!refusal->text)
                return g_strdup_printf("%u devices must be used, but %s can use %u of them at most.",
                        refusal->n_devices, request->engine->name, refusal->n_together);
        label = label_of(cluster, refusal->text);
        why = say_why_unusable(cluster, request, refusal);
        return g_strdup_printf("%s must be used, but cannot.%s%s", label, why ? " " : "", why ? why : "");
}

static char *say_pinned_twice(const AldPlanCluster *cluster, const AldPlanRefusal *refusal)
{
        g_autofree char *label = label_of(cluster, refusal->text);

        return g_strdup_printf("The split names %s twice.", label);
}

static char *say_pinned_too_many(const AldPlanCluster *cluster, const AldPlanRefusal *refusal)
{
        g_autofree char *label = label_of(cluster, refusal->text);
        g_autofree char *lacking = format_size((double) (refusal->needs_bytes - refusal->free_bytes));

        return g_strdup_printf("%s lacks %s for the layers that the split gives it.", label, lacking);
}

static char *say_client_too_small(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanRefusal *refusal)
{
        g_autofree char *needs = format_size((double) refusal->needs_bytes);
        g_autofree char *free_bytes = format_size((double) refusal->free_bytes);
        g_autofree char *label = label_of(cluster, refusal->text);
        const AldPlanMethod *method = request->engine->method;

        if (refusal->free_bytes == ALD_PLAN_ABSENT)
                return g_strdup_printf(
                        "The client needs %s of host memory for the embedding and buffers, and the "
                        "free memory of %s is unknown.",
                        needs, label);
        return g_strdup_printf(
                "The %s needs %s of host memory for the embedding and %s, and %s%s has %s free.",
                method->client, needs, method->client_holds,
                request->client ? "" : "no host has as much: ", label, free_bytes);
}

/* Names the device that lacks the least memory for the smallest part, since that is the easiest to remedy.
 * Returns NULL if memory is not the cause. */
static char *say_no_room(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanRefusal *refusal)
{
        const AldPlanMethod *method = request->engine->method;
        uint32_t best = ALD_PLAN_NONE;
        uint64_t least = UINT64_MAX;
        g_autofree char *label = NULL, *lacking = NULL;

        for (uint32_t i = 0; refusal->verdicts && i < cluster->n_devices; i++) {
                const AldPlanDevice *device = &cluster->devices[i];
                uint64_t needs;

                if (refusal->verdicts[i].reason != ALD_PLAN_MEMORY_TOO_SMALL)
                        continue;
                needs = method->least_bytes(request, device, cluster->n_nodes);
                if (needs - MIN(needs, device->free_bytes) >= least)
                        continue;
                least = needs - MIN(needs, device->free_bytes);
                best = i;
        }
        if (best == ALD_PLAN_NONE)
                return NULL;
        label = ald_plan_node_label(&cluster->nodes[cluster->devices[best].node]);
        lacking = format_size((double) least);
        return g_strdup_printf("No device can be used. %s; %s/%s lacks the least, %s.", method->none_fits,
                label, cluster->devices[best].id, lacking);
}

/* Says that devices cannot be measured, for which no probe is proposed. Others may have been measured without
 * being usable. */
static char *say_unmeasurable(GPtrArray *packages)
{
        g_autofree char *list = NULL;

        g_ptr_array_add(packages, NULL);
        list = g_strjoinv(", ", (char **) packages->pdata);
        if (list[0] == '\0')
                return g_strdup("No device can be used. OpenCL does not show those that were not measured.");
        return g_strdup_printf("No device can be used. Those that were not measured lack an OpenCL driver: "
                               "install %s (Debian's name).",
                list);
}

static char *say_no_device(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanRefusal *refusal)
{
        g_autoptr(GPtrArray) packages = g_ptr_array_new();
        g_autofree char *no_room = say_no_room(cluster, request, refusal);
        bool unmeasured = false;

        for (uint32_t i = 0; refusal->verdicts && i < cluster->n_devices; i++) {
                AldPlanReason reason = refusal->verdicts[i].reason;
                const char *package = cluster->devices[i].opencl_package;

                if (reason != ALD_PLAN_BANDWIDTH_UNMEASURED && reason != ALD_PLAN_COMPUTE_UNMEASURED)
                        continue;
                if (!cluster->devices[i].lacks_opencl)
                        return g_strdup(
                                "No device can be used. If one was never measured because it is in use, "
                                "measure it nevertheless, there: alidadectl probe compute --force DEVICE.");
                unmeasured = true;
                if (package && !g_ptr_array_find_with_equal_func(packages, package, g_str_equal, NULL))
                        g_ptr_array_add(packages, (gpointer) package);
        }
        if (unmeasured)
                return say_unmeasurable(packages);
        return no_room ? g_steal_pointer(&no_room) : g_strdup("No device can be used.");
}

/* Gives the cause of the first node; the others are listed as left out. */
static char *say_not_named(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanRefusal *refusal)
{
        g_autofree char *unnamed = NULL;
        uint32_t i = 0;

        while (i < cluster->n_devices && refusal->verdicts[i].reason != ALD_PLAN_PATHS_UNNAMED)
                i++;
        if (i < cluster->n_devices)
                unnamed = say_unnamed(cluster, request->engine, &refusal->verdicts[i]);
        return g_strdup_printf("No paths that can be used join as many devices as it takes%s%s.",
                unnamed ? ": " : "", unnamed ? unnamed : "");
}

char *ald_plan_refusal_sentence(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanRefusal *refusal)
{
        switch (refusal->kind) {
        case ALD_PLAN_NO_SUCH_NODE:
                return g_strdup_printf("There is no node or device \"%s\".", refusal->text);
        case ALD_PLAN_NO_CLIENT:
                return g_strdup_printf("%s has no client.", request->engine->name);
        case ALD_PLAN_NO_DEVICE:
                return say_no_device(cluster, request, refusal);
        case ALD_PLAN_REQUIRED_UNUSABLE:
                return say_unusable_requirement(cluster, request, refusal);
        case ALD_PLAN_TOO_LITTLE_MEMORY:
                return say_too_little(cluster, request, refusal);
        case ALD_PLAN_NO_SPLIT_FOUND:
                return say_no_split_found(refusal);
        case ALD_PLAN_CLIENT_TOO_SMALL:
                return say_client_too_small(cluster, request, refusal);
        case ALD_PLAN_DEVICES_LIMITED:
                return g_strdup("No plan was found with as few devices or nodes as are allowed.");
        case ALD_PLAN_NODES_UNEVEN:
                return g_strdup_printf("It takes more GPUs of one node than of another one; %s needs as many "
                                       "of each, which do not suffice.",
                        request->engine->name);
        case ALD_PLAN_PINS_UNEVEN:
                return g_strdup_printf("The split has more GPUs of one node than of another one; %s needs as "
                                       "many of each.",
                        request->engine->name);
        case ALD_PLAN_VENDORS_DIFFER:
                return g_strdup_printf("It takes GPUs of several vendors, which %s cannot use together.",
                        request->engine->name);
        case ALD_PLAN_TOO_MANY_DEVICES:
                return g_strdup_printf(
                        "%u devices could be used, more than a plan is made with; exclude some.",
                        refusal->n_devices);
        case ALD_PLAN_NOT_JOINED:
                return g_strdup("No measured paths join as many devices as it takes; probe them, or state "
                                "assumed ones.");
        case ALD_PLAN_NO_RING_FOUND:
                return g_strdup_printf(
                        "No ring was found over the measured paths of %u devices, although there may "
                        "be one; probe more paths, state assumed ones, or limit the number of nodes.",
                        refusal->n_devices);
        case ALD_PLAN_TIME_UP:
                return g_strdup("No plan was found, and time was up before the reason was; exclude nodes, or "
                                "try again when the machine that plans is less busy.");
        case ALD_PLAN_NOT_NAMED:
                return say_not_named(cluster, request, refusal);
        case ALD_PLAN_CONTEXT_TOO_LONG:
                return g_strdup_printf("%s takes %" PRIu64
                                       " tokens of context of all requests together, and %" PRIu64
                                       " requests of %" PRIu64 " are more.",
                        request->engine->name, request->engine->context_max, request->workload->parallel,
                        request->workload->context);
        case ALD_PLAN_NO_SPLIT:
                return g_strdup_printf("%s cannot be given a split.", request->engine->name);
        case ALD_PLAN_PINNED_TWICE:
                return say_pinned_twice(cluster, refusal);
        case ALD_PLAN_PINS_DO_NOT_ADD_UP:
                return g_strdup_printf("The split has %" PRIu64 " layers, the model %" PRIu64 ".",
                        refusal->pinned_layers, request->workload->layers);
        case ALD_PLAN_PINNED_TOO_MANY:
                return say_pinned_too_many(cluster, refusal);
        default:
                return NULL;
        }
}

char *ald_plan_sensitivity_sentence(
        const AldPlanNode *node, const AldPlanRequest *request, bool is_rate, double nsec, double nsec_then)
{
        g_autofree char *label = ald_plan_node_label(node);
        g_autofree char *share = ald_format_figure(&ald_unit_percent, 100 * fmax(0, nsec - nsec_then) / nsec);

        return g_strdup_printf("With %s to and from %s, %s would take %s less.",
                is_rate ? "ten times the rate" : "a tenth of the round trip", label,
                request->engine->method->step, share);
}

char *ald_plan_path_sentence(const AldPlanPath *path)
{
        g_autofree char *lower = NULL, *higher = NULL;

        if (!(path->disputed_bits_per_second > 0))
                return NULL;
        lower = ald_format_figure(&ald_unit_bits_per_second, path->bits_per_second);
        higher = ald_format_figure(&ald_unit_bits_per_second, path->disputed_bits_per_second);
        return g_strdup_printf(
                "Both ends measured this direction and disagree: %s and %s; the lower rate counts.", lower,
                higher);
}
