/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Probes of links, over sockets and over RDMA. */
#include <arpa/inet.h>
#include <errno.h>

#include "common/excerpt.h"
#include "services/common/errors.h"
#include "services/link-probe/inhibit/inhibit-what.h"
#include "services/link-probe/kinds/probe-facts.h"
#include "services/link-probe/kinds/probe-kinds.h"
#include "services/link-probe/link/link-validation.h"
#include "services/link-probe/net/route.h"
#include "services/link-probe/probe/probe-child.h"
#include "state/link/interface-roles.h"
#include "state/link/path-candidates.h"

#define DEADLINE_MSEC 60000u

/* How often a job retries a busy peer. */
#define RETRIES_MAX 20u

/* The maximum duration of a brief measurement in each direction. */
#define BRIEF_SECONDS 2u

static GPtrArray *make_arguments(const AldProgram *program, const AldProbeTarget *target)
{
        GPtrArray *arguments = ald_program_arguments(program);
        bool scoped = *target->interface != '\0' && ald_route_is_link_local(target->address);

        ald_program_add(arguments, "--connect=%s%s%s", target->address, scoped ? "%" : "",
                scoped ? target->interface : "");
        if (*target->interface && !scoped)
                ald_program_add(arguments, "--bind-device=%s", target->interface);
        ald_program_add(arguments, "--port=%u", program->config->port);
        ald_program_add(arguments, "--peer=%s", target->peer);
        ald_program_add(arguments, "--progress-fd=" ALD_PROBE_SIDE_FD);
        if (target->rtt_only)
                ald_program_add(arguments, "--rtt-only");
        else if (target->scope == ALD_LINK_SCOPE_CHECK)
                ald_program_add(arguments, "--check");
        else if (target->scope == ALD_LINK_SCOPE_ROUND_TRIPS)
                ald_program_add(arguments, "--round-trips");
        if (target->automatic)
                ald_program_add(arguments, "--automatic");
        if (target->overdue)
                ald_program_add(arguments, "--overdue");
        if (target->brief)
                ald_program_add(arguments, "--seconds-max=%u", BRIEF_SECONDS);
        if (ald_probe_kind_is_rdma(target->kind)) {
                ald_program_add(arguments, "--device=%s", target->source_port);
                ald_program_add(arguments, "--peer-device=%s", target->sink_port);
        }
        return arguments;
}

static int read_progress(
        const char *line, const AldProbeTarget *target, char **ret_phase, double *ret_fraction)
{
        g_autoptr(AldRecord) record = NULL;
        const AldProbeProgress *progress;
        int r = ald_probe_answer_parse(ALD_KIND_PROBE_PROGRESS, line, &record);

        if (r < 0)
                return r;
        progress = ald_record_as(record, PROBE_PROGRESS, AldProbeProgress);
        *ret_phase = g_strdup(progress->phase);
        *ret_fraction = progress->fraction;
        return 0;
}

static void read_answer(
        const char *output, const char *failure, const AldProbeTarget *target, AldProbeAnswer *ret)
{
        ald_probe_answer_read(target->kind->result, output, failure, ret);
        ald_result_validate(target, ret);
}

/* Reads "ADDRESS" or "LINK-LOCAL%INTERFACE", in any notation, and stores it in the notation of records. */
static int read_address(const char *text, AldProbeTarget *target)
{
        g_auto(GStrv) parts = g_strsplit(text, "%", 2);
        g_autofree char *node = g_strdup(target->peer);
        char plain[INET6_ADDRSTRLEN];
        struct in6_addr bytes;
        bool scoped = parts[0] && parts[1];

        if (!parts[0])
                return -EINVAL;
        if (inet_pton(AF_INET6, parts[0], &bytes) == 1)
                inet_ntop(AF_INET6, &bytes, plain, sizeof plain);
        else if (inet_pton(AF_INET, parts[0], &bytes) == 1)
                inet_ntop(AF_INET, &bytes, plain, sizeof plain);
        else
                return -EINVAL;
        if (ald_route_is_link_local(plain) != scoped || (scoped && *parts[1] == '\0'))
                return -EINVAL;
        return ald_probe_target_set(target, target->kind, node, plain, scoped ? parts[1] : NULL);
}

static char *take_socket_options(const void *read, AldProbeTarget *target)
{
        const AldProbeLinkOptions *options = read;

        if (options->address && read_address(options->address, target) < 0) {
                g_autofree char *excerpt = ald_excerpt(options->address);

                return g_strconcat(
                        "Not an address, or a link-local address without %INTERFACE: ", excerpt, NULL);
        }
        target->rtt_only = options->rtt_only;
        return NULL;
}

static char *read_port(const char *port, char ret[static ALD_PORT_NAME_SIZE])
{
        g_autofree char *excerpt = NULL;

        if (!port || ald_port_name_ok(port)) {
                g_strlcpy(ret, port ?: "", ALD_PORT_NAME_SIZE);
                return NULL;
        }
        excerpt = ald_excerpt(port);
        return g_strconcat("Not a port such as mlx5_0.1: ", excerpt, NULL);
}

static char *take_rdma_options(const void *read, AldProbeTarget *target)
{
        const AldProbeRdmaOptions *options = read;

        return read_port(options->port, target->source_port)
                       ?: read_port(options->peer_port, target->sink_port);
}

static int add_paths(const AldProbeTarget *wanted, const AldNetwork *own, const AldNetwork *peer,
        const AldResults *results, GArray *targets)
{
        g_autoptr(GArray) paths = own ? ald_candidates_compute(own, peer) : NULL;
        AldProbeTarget target;

        for (unsigned i = 0; paths && i < paths->len; i++) {
                const AldCandidate *path = &g_array_index(paths, AldCandidate, i);
                const AldInterface *interface = ald_results_choose(results, wanted->peer, path);

                if (ald_probe_target_set(&target, wanted->kind, wanted->peer, path->address,
                            interface ? interface->id : NULL) < 0)
                        continue;
                target.rtt_only = wanted->rtt_only;
                g_array_append_val(targets, target);
        }
        return targets->len > 0 ? 0 : -ALD_E_NO_SUCH_ADDRESS;
}

/* Chooses paths by the interfaces that both ends report and by the outcome of earlier attempts. */
static int resolve_socket(const AldProbeTarget *wanted, const AldProbeFacts *facts, GArray *targets)
{
        const AldNetwork *own = ald_node_records_as(facts->own, NETWORK, AldNetwork);
        const AldNetwork *peer = ald_node_records_as(facts->peer, NETWORK, AldNetwork);

        if (!peer)
                return -ALD_E_NO_SUCH_ADDRESS;
        if (*wanted->address == '\0')
                return add_paths(wanted, own, peer, facts->results, targets);
        if (!ald_network_find_address(peer, wanted->address))
                return -ALD_E_NO_SUCH_ADDRESS;
        g_array_append_vals(targets, wanted, 1);
        return 0;
}

static AldRdmaRequestEnd end_of(const char *id, const AldNodeRecords *records)
{
        return (AldRdmaRequestEnd){ id, ald_node_records_as(records, NETWORK, AldNetwork),
                ald_node_records_as(records, FABRIC, AldFabric) };
}

static int resolve_rdma(const AldProbeTarget *wanted, const AldProbeFacts *facts, GArray *targets)
{
        const AldRdmaRequestEnd own = end_of(facts->own_id, facts->own);
        const AldRdmaRequestEnd peer = end_of(wanted->peer, facts->peer);

        return ald_rdma_request_resolve(wanted, &own, &peer, facts->neighbours, facts->results, targets);
}

static const AldProbeRefusal refusals[] = {
        { -ALD_E_NO_SUCH_DEVICE, ALD_ERROR_NO_SUCH_DEVICE,
                "This machine or the node has no such RDMA port, or no pair of them can be used; alidadectl "
                "fabric shows all ports" },
        { -ALD_E_NO_SUCH_NODE, ALD_ERROR_NO_SUCH_NODE, "The node is not known" },
        { -ALD_E_NO_SUCH_ADDRESS, ALD_ERROR_NO_SUCH_NODE,
                "The node does not have this address, or cannot be reached at any address" },
        { -ALD_E_OWN_NODE, SD_BUS_ERROR_INVALID_ARGS, "The node is this machine" },
        { 0, NULL, "Cannot read the addresses of the node from the state service" },
};

static const AldKind needs[] = { ALD_KIND_NETWORK, ALD_KIND_FABRIC, ALD_N_KINDS };

const AldProbeKind ald_probe_socket = {
        .kind = ALD_KIND_LINK_SOCKET,
        .result = ALD_KIND_SOCKET_RESULT,
        .program = "alidade-probe-socket",
        .noun = "links",
        .subject = "Probes of links are",
        .inhibit = ALD_INHIBIT_LINK,
        .deadline_msec = DEADLINE_MSEC,
        .retries_max = RETRIES_MAX,
        .needs = needs,
        .make_arguments = make_arguments,
        .read_progress = read_progress,
        .read = read_answer,
        .options = &ald_probe_link_options_struct,
        .take_options = take_socket_options,
        .resolve = resolve_socket,
        .refusals = refusals,
};

/* RDMA uses the same wires, so a lock on links covers it as well. */
const AldProbeKind ald_probe_rdma = {
        .kind = ALD_KIND_LINK_RDMA,
        .result = ALD_KIND_RDMA_RESULT,
        .program = "alidade-probe-rdma",
        .noun = "links over RDMA",
        .subject = "Probes of links over RDMA are",
        .inhibit = ALD_INHIBIT_LINK | ALD_INHIBIT_RDMA,
        .deadline_msec = DEADLINE_MSEC,
        .retries_max = RETRIES_MAX,
        .needs = needs,
        .make_arguments = make_arguments,
        .read_progress = read_progress,
        .read = read_answer,
        .options = &ald_probe_rdma_options_struct,
        .take_options = take_rdma_options,
        .resolve = resolve_rdma,
        .refusals = refusals,
};
