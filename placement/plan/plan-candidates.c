/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "placement/plan/buffers.h"
#include "placement/plan/cost.h"
#include "placement/plan/method.h"
#include "placement/plan/plan-candidates.h"

uint32_t ald_plan_node_find(const AldPlanCluster *cluster, const char *id)
{
        for (uint32_t i = 0; i < cluster->n_nodes; i++)
                if (strcmp(cluster->nodes[i].id, id) == 0)
                        return i;
        return ALD_PLAN_NONE;
}

const AldPlanDevice *ald_plan_candidate_device(const AldPlanCandidates *candidates, uint32_t candidate)
{
        return &candidates->cluster->devices[candidates->devices[candidate]];
}

uint32_t ald_plan_candidate_of(const AldPlanCandidates *candidates, uint32_t device)
{
        uint32_t candidate = 0;

        while (candidates->devices[candidate] != device)
                candidate++;
        return candidate;
}

/* Returns whether the engine could use the path, according to its figures. */
static bool is_path_usable(const AldPlanCandidates *candidates, const AldPlanPath *path)
{
        return candidates->places[path->source] != ALD_PLAN_NONE &&
               candidates->places[path->sink] != ALD_PLAN_NONE &&
               (!path->is_rdma || candidates->request->engine->takes_rdma) &&
               isfinite(ald_plan_path_nsec(path, 1));
}

static AldPlanUnnamed check_path_names(
        const AldPlanCandidates *candidates, const AldPlanPath *path, uint32_t *ret_node)
{
        return ald_plan_check_path_names(candidates->cluster, candidates->request->engine,
                candidates->shares_host_name, path, ret_node);
}

bool ald_plan_has_unnamed_path(
        const AldPlanCandidates *candidates, uint32_t a, uint32_t b, AldPlanVerdict *verdict)
{
        const AldPlanCluster *cluster = candidates->cluster;

        for (uint32_t i = 0; i < cluster->n_paths; i++) {
                const AldPlanPath *path = &cluster->paths[i];

                if (!((path->source == a && path->sink == b) || (path->source == b && path->sink == a)) ||
                        !is_path_usable(candidates, path))
                        continue;
                verdict->unnamed = check_path_names(candidates, path, &verdict->unnamed_node);
                if (verdict->unnamed != ALD_PLAN_NAMED)
                        return true;
        }
        return false;
}

void ald_plan_judge_unnamed(AldPlanCandidates *candidates)
{
        const AldPlanCluster *cluster = candidates->cluster;
        g_autofree AldPlanUnnamed *unnamed = g_new0(AldPlanUnnamed, cluster->n_nodes);

        /* Assumed paths have no addresses that could replace the name. */
        for (uint32_t i = 0; candidates->shares_host_name && i < cluster->n_nodes; i++)
                if (candidates->shares_host_name[i] && isfinite(candidates->request->assumed_rtt_nsec))
                        unnamed[i] = ALD_PLAN_HOST_NAME_SHARED;
        for (uint32_t i = 0; i < cluster->n_paths; i++) {
                uint32_t node;
                AldPlanUnnamed why = check_path_names(candidates, &cluster->paths[i], &node);

                if (why != ALD_PLAN_NAMED && is_path_usable(candidates, &cluster->paths[i]))
                        unnamed[node] = why;
        }
        for (uint32_t i = 0; i < candidates->n; i++) {
                uint32_t node = ald_plan_candidate_device(candidates, i)->node;

                if (unnamed[node] != ALD_PLAN_NAMED)
                        candidates->verdicts[candidates->devices[i]] = (AldPlanVerdict){
                                .reason = ALD_PLAN_PATHS_UNNAMED,
                                .unnamed = unnamed[node],
                                .unnamed_node = node
                        };
        }
}

bool ald_plan_has_candidate(const AldPlanCandidates *candidates, uint32_t node)
{
        for (uint32_t i = 0; i < candidates->n; i++)
                if (ald_plan_candidate_device(candidates, i)->node == node)
                        return true;
        return false;
}

/* The processor's memory is that of the host, whether the processor is used or not. */
uint64_t ald_plan_host_free_bytes(const AldPlanCluster *cluster, uint32_t node)
{
        for (uint32_t i = 0; i < cluster->n_devices; i++)
                if (cluster->devices[i].node == node && cluster->devices[i].is_processor)
                        return cluster->devices[i].free_bytes;
        return ALD_PLAN_ABSENT;
}

bool ald_plan_has_host_room(const AldPlanCluster *cluster, uint32_t node, uint64_t bytes)
{
        for (uint32_t i = 0; i < cluster->n_devices; i++)
                if (cluster->devices[i].node == node && cluster->devices[i].is_processor)
                        return cluster->devices[i].free_bytes != ALD_PLAN_ABSENT &&
                               cluster->devices[i].free_bytes >= bytes;
        return true;
}

/* Returns whether a text means the device: "node/device", or "node", which means all of its devices. */
static bool text_matches_device(const AldPlanCluster *cluster, const AldPlanDevice *device, const char *text)
{
        const char *node = cluster->nodes[device->node].id;
        size_t length = strlen(node);

        if (strncmp(text, node, length) != 0)
                return false;
        return text[length] == '\0' || (text[length] == '/' && strcmp(text + length + 1, device->id) == 0);
}

/* Returns the entry of the request's split for the device, or NULL. */
static const AldPlanPin *find_pin(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanDevice *device)
{
        for (uint32_t i = 0; i < request->n_pins; i++)
                if (text_matches_device(cluster, device, request->pins[i].device))
                        return &request->pins[i];
        return NULL;
}

const AldPlanPin *ald_plan_pin_of(const AldPlanCandidates *candidates, uint32_t candidate)
{
        return find_pin(
                candidates->cluster, candidates->request, ald_plan_candidate_device(candidates, candidate));
}

static bool is_excluded(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanDevice *device)
{
        for (const char *const *text = request->without; text && *text; text++)
                if (text_matches_device(cluster, device, *text))
                        return true;
        return request->n_pins > 0 && !find_pin(cluster, request, device);
}

/* Returns whether the device is listed as "node/device", not only its node. */
static bool is_listed_alone(
        const AldPlanCluster *cluster, const AldPlanDevice *device, const char *const *texts)
{
        for (; texts && *texts; texts++)
                if (strcmp(*texts, cluster->nodes[device->node].id) != 0 &&
                        text_matches_device(cluster, device, *texts))
                        return true;
        return false;
}

/* Returns whether device a is used rather than b, which computes in the same memory: the one that is
 * required, else the one that the preference favors, else the first. */
static bool is_preferred(const AldPlanCandidates *candidates, uint32_t a, uint32_t b)
{
        const AldPlanCluster *cluster = candidates->cluster;
        const AldPlanRequest *request = candidates->request;
        const AldPlanDevice *one = &cluster->devices[a], *other = &cluster->devices[b];
        bool required = is_listed_alone(cluster, one, request->required);
        double one_nsec = ald_plan_layer_nsec(&request->constants, one, request->workload);
        double other_nsec = ald_plan_layer_nsec(&request->constants, other, request->workload);

        if (required != is_listed_alone(cluster, other, request->required))
                return required;
        if (candidates->preference == ALD_PLAN_PREFER_ROOM && one->free_bytes != other->free_bytes)
                return one->free_bytes > other->free_bytes;
        return one_nsec < other_nsec || (one_nsec == other_nsec && a < b);
}

static bool has_room(const AldPlanCandidates *candidates, const AldPlanDevice *device)
{
        return ald_plan_method_of(candidates)
                       ->least_bytes(candidates->request, device, candidates->cluster->n_nodes) <=
               device->free_bytes;
}

static bool is_measured(const AldPlanDevice *device)
{
        return !isnan(device->bytes_per_second) && !isnan(device->flops);
}

/* Returns whether another device of the node computes in the same memory and is used instead. */
static bool has_better_sibling(const AldPlanCandidates *candidates, uint32_t index)
{
        const AldPlanCluster *cluster = candidates->cluster;
        const AldPlanRequest *request = candidates->request;
        const AldPlanDevice *device = &cluster->devices[index];

        for (uint32_t i = 0; device->uses_host_memory && i < cluster->n_devices; i++) {
                const AldPlanDevice *other = &cluster->devices[i];

                if (i == index || other->node != device->node || !other->uses_host_memory ||
                        is_excluded(cluster, request, other) ||
                        !ald_plan_engine_takes(request->engine, other->is_processor) ||
                        !ald_plan_can_name_device(request->engine, other))
                        continue;
                if (is_measured(other) && other->free_bytes != ALD_PLAN_ABSENT &&
                        has_room(candidates, other) && is_preferred(candidates, i, index))
                        return true;
        }
        return false;
}

static AldPlanReason judge_device(const AldPlanCandidates *candidates, uint32_t index)
{
        const AldPlanRequest *request = candidates->request;
        const AldPlanCluster *cluster = candidates->cluster;
        const AldPlanDevice *device = &cluster->devices[index];

        if (cluster->nodes[device->node].unusable)
                return ALD_PLAN_UNUSABLE;
        if (is_excluded(cluster, request, device))
                return ALD_PLAN_EXCLUDED;
        if (!ald_plan_engine_takes(request->engine, device->is_processor))
                return ALD_PLAN_NOT_FOR_ENGINE;
        if (!ald_plan_can_name_device(request->engine, device))
                return ALD_PLAN_PART_OF_GPU;
        if (!ald_plan_method_of(candidates)->has_layers)
                return ALD_PLAN_TAKEN;
        if (device->doubt)
                return ALD_PLAN_DISBELIEVED;
        if (isnan(device->bytes_per_second))
                return ALD_PLAN_BANDWIDTH_UNMEASURED;
        if (isnan(device->flops))
                return ALD_PLAN_COMPUTE_UNMEASURED;
        if (has_better_sibling(candidates, index))
                return ALD_PLAN_SHARES_MEMORY;
        if (device->free_bytes == ALD_PLAN_ABSENT)
                return ALD_PLAN_MEMORY_UNKNOWN;
        if (!has_room(candidates, device))
                return ALD_PLAN_MEMORY_TOO_SMALL;
        return ALD_PLAN_TAKEN;
}

static void add_candidate(AldPlanCandidates *candidates, uint32_t index)
{
        const AldPlanRequest *request = candidates->request;
        const AldPlanDevice *device = &candidates->cluster->devices[index];
        const AldPlanPin *pin = find_pin(candidates->cluster, request, device);
        uint32_t i = candidates->n++;

        candidates->devices[i] = index;
        candidates->pinned[i] = pin ? pin->layers : 0;
        candidates->required[i] = pin || is_listed_alone(candidates->cluster, device, request->required);
        candidates->layer_nsec[i] = ald_plan_layer_nsec(&request->constants, device, request->workload);
        candidates->head_nsec[i] = ald_plan_head_nsec(&request->constants, device, request->workload);
}

static int compare_room(const void *a, const void *b, void *userdata)
{
        const AldPlanDevice *devices = userdata;
        uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

        if (devices[x].free_bytes != devices[y].free_bytes)
                return devices[x].free_bytes > devices[y].free_bytes ? -1 : 1;
        return x < y ? -1 : x > y;
}

/* Adds all usable devices. Of equally fast devices the solvers prefer the first, so those with the most room
 * come first. All ranks and slices hold equally much. */
static void add_candidates(AldPlanCandidates *candidates)
{
        const AldPlanCluster *cluster = candidates->cluster;
        g_autofree uint32_t *order = g_new(uint32_t, cluster->n_devices);

        for (uint32_t i = 0; i < cluster->n_devices; i++) {
                order[i] = i;
                candidates->verdicts[i].reason = judge_device(candidates, i);
        }
        if (ald_plan_method_of(candidates)->spreads_layers)
                g_qsort_with_data(order, (gint) cluster->n_devices, sizeof *order, compare_room,
                        (gpointer) cluster->devices);
        for (uint32_t i = 0; i < cluster->n_devices; i++)
                if (candidates->verdicts[order[i]].reason == ALD_PLAN_TAKEN)
                        add_candidate(candidates, order[i]);
}

/* Requires any candidate of the node, or its only one. A node may be named several times. */
static void require_node(AldPlanCandidates *candidates, uint32_t node)
{
        uint32_t n = 0, one = 0;

        for (uint32_t i = 0; i < candidates->n_required_nodes; i++)
                if (candidates->required_nodes[i] == node)
                        return;
        for (uint32_t i = 0; i < candidates->n; i++) {
                if (ald_plan_candidate_device(candidates, i)->node != node)
                        continue;
                if (candidates->required[i])
                        return;
                one = i;
                n++;
        }
        if (n == 1)
                candidates->required[one] = true;
        else if (n > 1)
                candidates->required_nodes[candidates->n_required_nodes++] = node;
}

static void require_nodes(AldPlanCandidates *candidates)
{
        const char *const *texts = candidates->request->required;

        candidates->required_nodes = g_new(uint32_t, texts ? g_strv_length((char **) texts) : 0);
        for (; texts && *texts; texts++) {
                uint32_t node = ald_plan_node_find(candidates->cluster, *texts);

                if (node != ALD_PLAN_NONE)
                        require_node(candidates, node);
        }
}

static void assign_place(AldPlanCandidates *candidates, uint32_t node)
{
        if (candidates->places[node] == ALD_PLAN_NONE)
                candidates->places[node] = candidates->n_places++;
}

/* Numbers the nodes between which paths may lead: those with candidates, and the client. */
static void assign_places(AldPlanCandidates *candidates)
{
        const AldPlanCluster *cluster = candidates->cluster;
        const char *client = candidates->request->client;
        uint32_t node = client ? ald_plan_node_find(cluster, client) : ALD_PLAN_NONE;

        candidates->places = g_new(uint32_t, cluster->n_nodes);
        for (uint32_t i = 0; i < cluster->n_nodes; i++)
                candidates->places[i] = ALD_PLAN_NONE;
        for (uint32_t i = 0; i < candidates->n; i++)
                assign_place(candidates, ald_plan_candidate_device(candidates, i)->node);
        if (node != ALD_PLAN_NONE)
                assign_place(candidates, node);
}

static void list_paths(AldPlanCandidates *candidates)
{
        const AldPlanCluster *cluster = candidates->cluster;
        size_t n;

        assign_places(candidates);
        candidates->shares_host_name = ald_plan_shared_host_names(
                cluster, candidates->request->engine, candidates->places);
        n = (size_t) candidates->n_places * candidates->n_places;
        candidates->first_path = g_new(uint32_t, n);
        candidates->next_path = g_new(uint32_t, cluster->n_paths);
        for (size_t i = 0; i < n; i++)
                candidates->first_path[i] = ALD_PLAN_NONE;
        for (uint32_t i = cluster->n_paths; i-- > 0;) {
                const AldPlanPath *path = &cluster->paths[i];
                uint32_t node;
                size_t at;

                if (!is_path_usable(candidates, path) ||
                        check_path_names(candidates, path, &node) != ALD_PLAN_NAMED)
                        continue;
                at = (size_t) candidates->places[path->source] * candidates->n_places +
                     candidates->places[path->sink];
                candidates->next_path[i] = candidates->first_path[at];
                candidates->first_path[at] = i;
        }
}

/* Checks that each entry of the list is a node or device, and, if it is required, a usable one. */
static int check_names(
        const AldPlanCandidates *candidates, const char *const *texts, bool required, AldPlanRefusal *ret)
{
        const AldPlanCluster *cluster = candidates->cluster;

        for (; texts && *texts; texts++) {
                bool is_known = ald_plan_node_find(cluster, *texts) != ALD_PLAN_NONE, is_usable = false;

                for (uint32_t i = 0; i < cluster->n_devices; i++) {
                        bool matches = text_matches_device(cluster, &cluster->devices[i], *texts);

                        is_known |= matches;
                        is_usable |= matches && candidates->verdicts[i].reason == ALD_PLAN_TAKEN;
                }
                if (is_known && (is_usable || !required))
                        continue;
                *ret = (AldPlanRefusal){
                        .kind = is_known ? ALD_PLAN_REQUIRED_UNUSABLE : ALD_PLAN_NO_SUCH_NODE, .text = *texts
                };
                return -EINVAL;
        }
        return 0;
}

/* Checks that the pinned device exists and has room for its layers, and is pinned only once. */
static int check_pin(const AldPlanCandidates *candidates, uint32_t pin, AldPlanRefusal *ret)
{
        const AldPlanCluster *cluster = candidates->cluster;
        const AldPlanPin *pins = candidates->request->pins;
        const char *text = pins[pin].device;
        const AldPlanDevice *device;
        AldPlanReason reason;
        uint64_t needs_bytes;
        uint32_t at = 0;

        for (uint32_t i = 0; i < pin; i++)
                if (strcmp(pins[i].device, text) == 0) {
                        *ret = (AldPlanRefusal){ .kind = ALD_PLAN_PINNED_TWICE, .text = text };
                        return -EINVAL;
                }
        while (at < cluster->n_devices && !text_matches_device(cluster, &cluster->devices[at], text))
                at++;
        if (at == cluster->n_devices) {
                *ret = (AldPlanRefusal){ .kind = ALD_PLAN_NO_SUCH_NODE, .text = text };
                return -EINVAL;
        }
        device = &cluster->devices[at];
        reason = candidates->verdicts[at].reason;
        if (reason != ALD_PLAN_TAKEN && reason != ALD_PLAN_MEMORY_TOO_SMALL) {
                *ret = (AldPlanRefusal){ .kind = ALD_PLAN_REQUIRED_UNUSABLE, .text = text };
                return -EINVAL;
        }
        needs_bytes = ald_plan_least_bytes(candidates->request, device, pins[pin].layers);
        if (needs_bytes > device->free_bytes) {
                *ret = (AldPlanRefusal){ .kind = ALD_PLAN_PINNED_TOO_MANY,
                        .text = text,
                        .needs_bytes = needs_bytes,
                        .free_bytes = device->free_bytes };
                return -EINVAL;
        }
        return 0;
}

/* Returns whether equally many devices are pinned on each node that has any. */
static bool are_pins_even(const AldPlanCandidates *candidates)
{
        g_autofree uint32_t *counts = g_new0(uint32_t, candidates->cluster->n_nodes);
        uint32_t each = 0;

        for (uint32_t i = 0; i < candidates->n; i++)
                each = ++counts[ald_plan_candidate_device(candidates, i)->node];
        for (uint32_t i = 0; i < candidates->cluster->n_nodes; i++)
                if (counts[i] > 0 && counts[i] != each)
                        return false;
        return true;
}

static int check_pins(const AldPlanCandidates *candidates, AldPlanRefusal *ret)
{
        const AldPlanRequest *request = candidates->request;
        uint64_t sum = 0;

        if (request->n_pins == 0)
                return 0;
        if (!ald_plan_method_of(candidates)->spreads_layers) {
                *ret = (AldPlanRefusal){ .kind = ALD_PLAN_NO_SPLIT };
                return -EINVAL;
        }
        for (uint32_t i = 0; i < request->n_pins; i++) {
                int r = check_pin(candidates, i, ret);

                if (r < 0)
                        return r;
                sum += request->pins[i].layers;
        }
        if (sum != request->workload->layers) {
                *ret = (AldPlanRefusal){ .kind = ALD_PLAN_PINS_DO_NOT_ADD_UP, .pinned_layers = sum };
                return -EINVAL;
        }
        if (request->engine->nodes_even && !are_pins_even(candidates)) {
                *ret = (AldPlanRefusal){ .kind = ALD_PLAN_PINS_UNEVEN };
                return -EINVAL;
        }
        return 0;
}

static int check_client(const AldPlanCandidates *candidates, AldPlanRefusal *ret)
{
        const AldPlanCluster *cluster = candidates->cluster;
        const AldPlanMethod *method = ald_plan_method_of(candidates);
        const char *client = candidates->request->client;
        uint32_t node = ald_plan_node_find(cluster, client);

        if (!method->client) {
                *ret = (AldPlanRefusal){ .kind = ALD_PLAN_NO_CLIENT, .text = client };
                return -EINVAL;
        }
        if (node == ALD_PLAN_NONE) {
                *ret = (AldPlanRefusal){ .kind = ALD_PLAN_NO_SUCH_NODE, .text = client };
                return -EINVAL;
        }
        if (cluster->nodes[node].unusable ||
                (!method->is_client_apart && !ald_plan_has_candidate(candidates, node))) {
                *ret = (AldPlanRefusal){ .kind = ALD_PLAN_REQUIRED_UNUSABLE, .text = client };
                return -EINVAL;
        }
        return method->is_client_apart && method->refuse_client(candidates, false, ret) ? -EINVAL : 0;
}

static int refuse_too_many(const AldPlanCandidates *candidates, AldPlanRefusal *ret_refusal)
{
        *ret_refusal = (AldPlanRefusal){ .kind = ALD_PLAN_TOO_MANY_DEVICES, .n_devices = candidates->n };
        return -EINVAL;
}

static bool is_context_too_long(const AldPlanRequest *request)
{
        uint64_t most = request->engine->context_max;

        return most > 0 && request->workload->context != ALD_ABSENT_UINT64 &&
               request->workload->parallel != ALD_ABSENT_UINT64 && request->workload->parallel > 0 &&
               request->workload->context > most / request->workload->parallel;
}

static int check_request(const AldPlanCandidates *candidates, AldPlanRefusal *ret_refusal)
{
        const AldPlanRequest *request = candidates->request;
        int r = check_names(candidates, request->without, false, ret_refusal);

        if (r >= 0)
                r = check_names(candidates, request->required, true, ret_refusal);
        if (r >= 0)
                r = check_pins(candidates, ret_refusal);
        if (r >= 0 && request->client)
                r = check_client(candidates, ret_refusal);
        if (r >= 0 && is_context_too_long(request)) {
                *ret_refusal = (AldPlanRefusal){ .kind = ALD_PLAN_CONTEXT_TOO_LONG };
                r = -EINVAL;
        }
        if (r >= 0 && candidates->n == 0) {
                *ret_refusal = (AldPlanRefusal){ .kind = ALD_PLAN_NO_DEVICE };
                r = -EINVAL;
        }
        return r;
}

int ald_plan_candidates_init(AldPlanCandidates *candidates, const AldPlanCluster *cluster,
        const AldPlanRequest *request, AldPlanPreference preference, AldPlanRefusal *ret_refusal)
{
        const AldPlanMethod *method = request->engine->method;

        *candidates = (AldPlanCandidates){ .cluster = cluster,
                .request = request,
                .preference = preference,
                .devices = g_new(uint32_t, cluster->n_devices),
                .required = g_new(bool, cluster->n_devices),
                .pinned = g_new(uint32_t, cluster->n_devices),
                .layer_nsec = g_new(double, cluster->n_devices),
                .head_nsec = g_new(double, cluster->n_devices),
                .activation_bytes = ald_plan_activation_bytes(&request->constants, request->workload),
                .verdicts = g_new0(AldPlanVerdict, cluster->n_devices) };
        add_candidates(candidates);
        if (candidates->n > ALD_PLAN_CANDIDATES_MAX)
                return refuse_too_many(candidates, ret_refusal);
        require_nodes(candidates);
        list_paths(candidates);
        if (method->tables_bytes && method->tables_bytes(candidates) > ALD_PLAN_TABLES_BYTES_MAX)
                return refuse_too_many(candidates, ret_refusal);
        return check_request(candidates, ret_refusal);
}

void ald_plan_candidates_clear(AldPlanCandidates *candidates)
{
        g_free(candidates->devices);
        g_free(candidates->required);
        g_free(candidates->pinned);
        g_free(candidates->required_nodes);
        g_free(candidates->layer_nsec);
        g_free(candidates->head_nsec);
        g_free(candidates->places);
        g_free(candidates->shares_host_name);
        g_free(candidates->first_path);
        g_free(candidates->next_path);
        g_free(candidates->verdicts);
}
