/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What differs between the kinds of probes. */
#include <errno.h>

#include "services/common/errors.h"
#include "services/link-probe/inhibit/inhibit-what.h"
#include "services/link-probe/kinds/compute-answer.h"
#include "services/link-probe/kinds/probe-facts.h"
#include "services/link-probe/kinds/probe-kinds.h"

#define PEER "0000000000000000000000000000000b"
#define OF_PEER " --port=7461 --peer=" PEER " --progress-fd=3"

static void check_arguments(const AldProbeTarget *target, const char *expected)
{
        const AldCredentials credentials = { .folder = (char *) "/keys", .crl = (char *) "/none" };
        const AldLinkProbeConfig config = { .port = 7461, .bytes_per_probe = 5 };
        const AldProgram program = { .credentials = &credentials, .config = &config };
        g_autoptr(GPtrArray) arguments = target->kind->make_arguments(&program, target);
        g_autofree char *text = NULL, *whole = NULL;

        g_ptr_array_add(arguments, NULL);
        text = g_strjoinv(" ", (char **) arguments->pdata);
        whole = g_strconcat(
                target->kind->local ? "--json" : "--json --identity=/keys --bytes-max=5", expected, NULL);
        g_assert_cmpstr(text, ==, whole);
}

static void test_arguments(void)
{
        AldProbeTarget target = { 0 };

        g_assert_cmpint(ald_probe_target_set(&target, &ald_probe_socket, PEER, "192.0.2.2", NULL), ==, 0);
        check_arguments(&target, " --connect=192.0.2.2" OF_PEER);
        target.rtt_only = target.automatic = target.overdue = target.brief = true;
        check_arguments(
                &target, " --connect=192.0.2.2" OF_PEER " --rtt-only --automatic --overdue --seconds-max=2");
        g_assert_cmpint(ald_probe_target_set(&target, &ald_probe_socket, PEER, "192.0.2.2", "eth0"), ==, 0);
        target.scope = ALD_LINK_SCOPE_CHECK;
        check_arguments(&target, " --connect=192.0.2.2 --bind-device=eth0" OF_PEER " --check");
        g_assert_cmpint(ald_probe_target_set(&target, &ald_probe_socket, PEER, "fe80::2", "eth0"), ==, 0);
        target.scope = ALD_LINK_SCOPE_ROUND_TRIPS;
        check_arguments(&target, " --connect=fe80::2%eth0" OF_PEER " --round-trips");
        g_assert_cmpint(ald_probe_target_set(&target, &ald_probe_rdma, PEER, "192.0.2.2", NULL), ==, 0);
        g_assert_cmpint(ald_probe_target_set_ports(&target, "mlx5_0.1", "mlx5_1.2"), ==, 0);
        check_arguments(&target, " --connect=192.0.2.2" OF_PEER " --device=mlx5_0.1 --peer-device=mlx5_1.2");
        target = (AldProbeTarget){ .kind = &ald_probe_compute,
                .device = (char *) "cpu",
                .metrics = ALD_COMPUTE_GEMM | ALD_COMPUTE_COPY };
        check_arguments(&target, " --progress-fd=3 --device=cpu --metric=gemm,copy --give-way");
        target.force = true;
        check_arguments(&target, " --progress-fd=3 --device=cpu --metric=gemm,copy");
}

static void check_progress(
        const AldProbeTarget *target, const char *line, const char *expected, double expected_fraction)
{
        g_autofree char *phase = NULL;
        double fraction = -1;
        int r = target->kind->read_progress(line, target, &phase, &fraction);

        g_assert_cmpint(r, ==, expected_fraction < 0 ? -EBADMSG : 0);
        g_assert_cmpstr(phase, ==, expected);
        g_assert_cmpfloat_with_epsilon(fraction, expected_fraction, 1e-9);
}

static void test_progress(void)
{
        const AldProbeTarget link = { .kind = &ald_probe_socket };
        AldProbeTarget device = { .kind = &ald_probe_compute, .metrics = ALD_COMPUTE_ALL };

        check_progress(&link, "{\"phase\":\"upload\",\"fraction\":0.25}", "upload", 0.25);
        check_progress(&link, "no line", NULL, -1);
        check_progress(&device, "{\"metric\":\"read\",\"phase\":\"measure\",\"fraction\":1}", "read measure",
                2 / 6.0);
        device.host_memory = true;
        check_progress(&device, "{\"metric\":\"read\",\"phase\":\"measure\",\"fraction\":1}", "read measure",
                2 / 4.0);
        device.metrics = ALD_COMPUTE_GEMM;
        check_progress(&device, "{\"metric\":\"read\",\"phase\":\"measure\",\"fraction\":1}", NULL, -1);
}

/* All kinds alike: the result follows in other tests. */
static void test_failures(void)
{
        static const struct {
                const char *output, *failure;
                AldProbeVerdict verdict;
                const char *reason;
        } table[] = {
                { "", NULL, ALD_PROBE_FAILED, "the probe returned no result" },
                { "{}", "did not finish in time", ALD_PROBE_FAILED, "the probe did not finish in time" },
                { "{\"error\":\"busy\",\"message\":\"later\"}", NULL, ALD_PROBE_LATER, "later" },
                { "{\"error\":\"inhibited\",\"message\":\"me: so\"}", NULL, ALD_PROBE_LATER, "me: so" },
        };

        for (const AldProbeKind *const *kind = ald_probe_kinds; *kind; kind++)
                for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
                        const AldProbeTarget target = { .kind = *kind, .device = (char *) "cpu" };
                        g_auto(AldProbeAnswer) answer = { 0 };

                        (*kind)->read(table[i].output, table[i].failure, &target, &answer);
                        g_assert_cmpint(answer.verdict, ==, table[i].verdict);
                        g_assert_cmpstr(answer.reason, ==, table[i].reason);
                        g_assert_null(answer.result);
                }
}

/* The problem, or NULL and the target as it was entered. */
static char *take(AldProbeTarget *target, const AldProbeKind *kind, const void *options)
{
        *target = (AldProbeTarget){ .kind = kind, .peer = PEER };
        return kind->take_options(options, target);
}

static void check_problem(const AldProbeKind *kind, const void *options, const char *expected)
{
        AldProbeTarget target;
        g_autofree char *problem = take(&target, kind, options);

        g_assert_cmpstr(problem, ==, expected);
        g_assert_true(target.kind == kind);
        g_assert_cmpstr(target.peer, ==, PEER);
}

static void test_options(void)
{
        static const char *const none[] = { NULL }, *const some[] = { "read", "peak", NULL };
        AldProbeTarget target;

        check_problem(&ald_probe_socket, &(AldProbeLinkOptions){ 0 }, NULL);
        check_problem(&ald_probe_socket, &(AldProbeLinkOptions){ .address = "fe80::1" },
                "Not an address, or a link-local address without %INTERFACE: fe80::1");
        check_problem(&ald_probe_socket, &(AldProbeLinkOptions){ .address = "192.0.2.1%eth0" },
                "Not an address, or a link-local address without %INTERFACE: 192.0.2.1%eth0");
        g_assert_null(take(&target, &ald_probe_socket,
                &(AldProbeLinkOptions){ .address = "FE80:0::1%eth0", .rtt_only = 1 }));
        g_assert_cmpstr(target.peer, ==, PEER);
        g_assert_cmpstr(target.address, ==, "fe80::1");
        g_assert_cmpstr(target.interface, ==, "eth0");
        g_assert_true(target.rtt_only);
        check_problem(&ald_probe_rdma, &(AldProbeRdmaOptions){ .port = "../x" },
                "Not a port such as mlx5_0.1: ../x");
        check_problem(&ald_probe_rdma, &(AldProbeRdmaOptions){ .port = "mlx5_0.1", .peer_port = "" },
                "Not a port such as mlx5_0.1: ");
        g_assert_null(take(&target, &ald_probe_rdma, &(AldProbeRdmaOptions){ .port = "mlx5_0.1" }));
        g_assert_cmpstr(target.source_port, ==, "mlx5_0.1");
        g_assert_cmpstr(target.sink_port, ==, "");
        check_problem(&ald_probe_compute, &(AldProbeComputeOptions){ .metrics = none },
                "The list of metrics is empty; omit the option to measure all");
        g_assert_null(take(&target, &ald_probe_compute, &(AldProbeComputeOptions){ .force = 1 }));
        g_assert_cmpuint(target.metrics, ==, ALD_COMPUTE_ALL);
        g_assert_true(target.force);
        g_assert_null(take(&target, &ald_probe_compute, &(AldProbeComputeOptions){ .metrics = some }));
        g_assert_cmpuint(target.metrics, ==, ALD_COMPUTE_READ | ALD_COMPUTE_PEAK);
}

static void check_refusal(const AldProbeKind *kind, int error, const char *name, const char *sentence)
{
        const AldProbeRefusal *refusal = kind->refusals;

        while (refusal->name && refusal->error != error)
                refusal++;
        g_assert_cmpstr(refusal->name, ==, name);
        g_assert_cmpstr(refusal->sentence, ==, sentence);
}

static void test_refusals(void)
{
        for (const AldProbeKind *const *kind = ald_probe_kinds; !(*kind)->local; kind++) {
                check_refusal(*kind, -ALD_E_NO_SUCH_DEVICE, ALD_ERROR_NO_SUCH_DEVICE,
                        "This machine or the node has no such RDMA port, or no pair of them can be used; "
                        "alidadectl fabric shows all ports");
                check_refusal(*kind, -ALD_E_NO_SUCH_NODE, ALD_ERROR_NO_SUCH_NODE, "The node is not known");
                check_refusal(*kind, -ALD_E_NO_SUCH_ADDRESS, ALD_ERROR_NO_SUCH_NODE,
                        "The node does not have this address, or cannot be reached at any address");
                check_refusal(*kind, -ALD_E_OWN_NODE, SD_BUS_ERROR_INVALID_ARGS, "The node is this machine");
                check_refusal(*kind, -ENODATA, NULL,
                        "Cannot read the addresses of the node from the state service");
        }
        check_refusal(&ald_probe_compute, -ALD_E_NO_SUCH_DEVICE, ALD_ERROR_NO_SUCH_DEVICE,
                "OpenCL shows no such device on this machine");
        check_refusal(&ald_probe_compute, -ENODATA, ALD_ERROR_NO_SUCH_DEVICE,
                "The devices of this machine are not known yet");
        check_refusal(&ald_probe_compute, -ALD_E_BUSY, ALD_ERROR_BUSY,
                "The device is in use, or processes compute on it; use the option Force to measure anyway");
        check_refusal(&ald_probe_compute, -ALD_E_NO_SUCH_NODE, NULL,
                "Cannot read the devices from the state service");
}

static void test_names(void)
{
        g_assert_true(ald_probe_kind_of_name("Link1.Socket") == &ald_probe_socket);
        g_assert_true(ald_probe_kind_of_name("Link1.Rdma") == &ald_probe_rdma);
        g_assert_true(ald_probe_kind_of_name("Node1.Compute") == &ald_probe_compute);
        g_assert_null(ald_probe_kind_of_name("Node1.Network"));
        g_assert_cmpuint(ald_probe_socket.inhibit, ==, ALD_INHIBIT_LINK);
        g_assert_cmpuint(ald_probe_rdma.inhibit, ==, ALD_INHIBIT_LINK | ALD_INHIBIT_RDMA);
        g_assert_cmpuint(ald_probe_compute.inhibit, ==, ALD_INHIBIT_COMPUTE);
}

/* A device on which processes compute, unless we are these, is measured only by force. */
static void test_devices(void)
{
        static const char *const none[] = { NULL }, *const ours[] = { "pci:1", NULL };
        AldBackend row = ALD_BACKEND_INIT;
        AldDevice used = ALD_DEVICE_INIT;
        AldBackends backends = ALD_BACKENDS_INIT;
        AldSystem system = ALD_SYSTEM_INIT;
        g_autoptr(AldRecord) shown = NULL, loads = NULL;
        g_autoptr(GArray) targets = ald_probe_targets_new();
        AldNodeRecords own = { 0 };
        AldProbeTarget wanted = { .kind = &ald_probe_compute, .metrics = ALD_COMPUTE_ALL };
        AldProbeFacts facts = { .own_id = PEER, .now_realtime = 5, .own = &own, .ours = none };

        g_assert_cmpint(wanted.kind->resolve(&wanted, &facts, targets), ==, -ENODATA);
        row.id = used.id = "pci:1";
        row.open_cl_platform = "P";
        row.driver_version = "555.1";
        used.usage = 90;
        backends.devices.items = &row;
        system.devices.items = &used;
        backends.devices.n = system.devices.n = 1;
        g_assert_cmpint(ald_record_new(ALD_KIND_BACKENDS, &backends, &shown), ==, 0);
        g_assert_cmpint(ald_record_new(ALD_KIND_SYSTEM, &system, &loads), ==, 0);
        loads->updated_usec = 5;
        own.of[ALD_KIND_BACKENDS] = shown;
        own.of[ALD_KIND_SYSTEM] = loads;
        g_assert_cmpint(wanted.kind->resolve(&wanted, &facts, targets), ==, -ALD_E_BUSY);
        wanted.device = (char *) "pci:2";
        g_assert_cmpint(wanted.kind->resolve(&wanted, &facts, targets), ==, -ALD_E_NO_SUCH_DEVICE);
        wanted.device = NULL;
        facts.ours = ours;
        g_assert_cmpint(wanted.kind->resolve(&wanted, &facts, targets), ==, 0);
        facts.ours = none;
        wanted.force = true;
        g_assert_cmpint(wanted.kind->resolve(&wanted, &facts, targets), ==, 0);
        g_assert_cmpuint(targets->len, ==, 2);
        for (unsigned i = 0; i < 2; i++) {
                const AldProbeTarget *target = &g_array_index(targets, AldProbeTarget, i);

                g_assert_cmpstr(target->device, ==, "pci:1");
                g_assert_cmpstr(target->driver_version, ==, "555.1");
                g_assert_cmpint(target->force, ==, i == 1);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/link-probe-kinds/arguments", test_arguments);
        g_test_add_func("/link-probe-kinds/progress", test_progress);
        g_test_add_func("/link-probe-kinds/failures", test_failures);
        g_test_add_func("/link-probe-kinds/options", test_options);
        g_test_add_func("/link-probe-kinds/refusals", test_refusals);
        g_test_add_func("/link-probe-kinds/names", test_names);
        g_test_add_func("/link-probe-kinds/devices", test_devices);
        return g_test_run();
}
