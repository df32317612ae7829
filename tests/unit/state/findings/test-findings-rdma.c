/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* RDMA ports that cannot be used, and hardware that two nodes claim. */
#include <string.h>

#include "tests/unit/findings-check.h"
#include "tests/unit/state-maker.h"

static void check_port(AldStore *store, const char *fields, AldFindingRowSeverity severity,
        const char *reason, const char *remedy)
{
        g_autofree char *record = g_strdup_printf("{'RdmaPorts': [{'Id': 'mlx5_0.1', %s}]}", fields);
        g_autofree char *text = g_strdup_printf("RDMA port mlx5_0.1%s on two cannot be used: %s.",
                strstr(fields, "Interface") ? " (eth0)" : "", reason);

        state_put(store, 2, ALD_KIND_FABRIC, record);
        if (reason)
                findings_check(store, "rdma-unusable", severity, NODES(2), text, remedy);
        else
                g_assert_cmpuint(findings_count_now(store, "rdma-unusable"), ==, 0);
}

static void test_rdma_unusable(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        check_port(store, "'State': 'active', 'Gids': ['0 RoCEv2 fe80::1']", 0, NULL, NULL);
        check_port(store, "'LinkLayer': 'ethernet'", 0, NULL, NULL);
        check_port(store, "'State': 'active', 'LinkLayer': 'ethernet', 'Interface': 'eth0'",
                ALD_FINDING_ROW_SEVERITY_WARNING, "it has no usable GID",
                "Give its network interface an address: the GIDs are derived from the addresses.");
        check_port(store, "'State': 'active', 'LinkLayer': 'infiniband'", ALD_FINDING_ROW_SEVERITY_WARNING,
                "it has no usable GID", "Check the log of the subnet manager.");
        check_port(store, "'State': 'init', 'LinkLayer': 'infiniband'", ALD_FINDING_ROW_SEVERITY_WARNING,
                "it waits for a subnet manager",
                "Start a subnet manager, such as opensm, on one node of this fabric.");
        check_port(store, "'State': 'armed', 'LinkLayer': 'infiniband'", ALD_FINDING_ROW_SEVERITY_WARNING,
                "the subnet manager has not activated it", "Check the log of the subnet manager.");
        check_port(store, "'State': 'init', 'LinkLayer': 'ethernet'", ALD_FINDING_ROW_SEVERITY_WARNING,
                "it is not active", "Bring its network interface up, and check the kernel log.");
        check_port(store, "'State': 'down', 'Interface': 'eth0', 'Gids': ['0 x y']",
                ALD_FINDING_ROW_SEVERITY_NOTICE, "it is down",
                "Check its cable, and bring its network interface up.");
        state_put(store, 2, ALD_KIND_NETWORK, "{'Interfaces': [{'Id': 'eth0', 'Carrier': false}]}");
        check_port(store, "'State': 'down', 'Interface': 'eth0'", ALD_FINDING_ROW_SEVERITY_NOTICE,
                "it is down, and its interface has no carrier",
                "Plug in its cable, or switch on the device at the other end.");
        check_port(store, "'State': 'down'", ALD_FINDING_ROW_SEVERITY_NOTICE, "it is down",
                "Check its cable, and bring its network interface up.");
}

/* A port that somebody switched off has no fault of its cable; nor has one that waits for its guest. */
static void test_rdma_disabled(void)
{
        g_autoptr(AldStore) store = findings_named_store();
        static const char ethernet[] =
                "'State': 'down', 'PhysicalState': 'disabled', 'LinkLayer': 'ethernet', 'Interface': 'eth0'";
        static const char interface_up[] = "Bring its network interface up if it is to be used.";

        check_port(store, "'State': 'down', 'PhysicalState': 'disabled', 'LinkLayer': 'infiniband'",
                ALD_FINDING_ROW_SEVERITY_NOTICE, "it is disabled",
                "Enable it if it is to be used, for example with ibportstate.");
        check_port(store, "'State': 'down', 'PhysicalState': 'polling', 'LinkLayer': 'infiniband'",
                ALD_FINDING_ROW_SEVERITY_NOTICE, "it is down",
                "Check its cable, and bring its network interface up.");
        check_port(store, ethernet, ALD_FINDING_ROW_SEVERITY_NOTICE, "it is disabled", interface_up);
        state_put(store, 2, ALD_KIND_NETWORK,
                "{'Interfaces': [{'Id': 'eth0', 'Carrier': false, 'Enabled': false}]}");
        check_port(store, ethernet, ALD_FINDING_ROW_SEVERITY_NOTICE, "it is disabled", interface_up);
        state_put(store, 2, ALD_KIND_NETWORK,
                "{'Interfaces': [{'Id': 'eth0', 'Carrier': false, 'Enabled': true}]}");
        check_port(store, ethernet, ALD_FINDING_ROW_SEVERITY_NOTICE,
                "it is down, and its interface has no carrier",
                "Plug in its cable, or switch on the device at the other end.");
        check_port(store, "'State': 'down', 'Virtual': true", 0, NULL, NULL);
        check_port(store, "'State': 'active', 'Virtual': true", ALD_FINDING_ROW_SEVERITY_WARNING,
                "it has no usable GID",
                "Give its network interface an address: the GIDs are derived from the addresses.");
}

/* What probes found out, as long as none succeeds. */
static void test_rdma_that_probes_cannot_use(void)
{
        static const struct {
                const char *word, *reason, *remedy;
        } cases[] = {
                { "no-gid", "it has no usable GID",
                        "Give its network interface an address: the GIDs are derived from the addresses." },
                { "no-permission", "probes are not permitted to open it",
                        "Permit the user of alidade-link-probed.service to open /dev/infiniband/uverbs*." },
                { "no-provider", "the driver library for it is not installed",
                        "Install the library, for example from the package ibverbs-providers." },
                { "memlock", "probes cannot lock enough memory for it",
                        "Raise LimitMEMLOCK= of alidade-link-probed.service." },
        };
        static const char port[] = "'State': 'active', 'Gids': ['0 ib fe80::1']";

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldStore) store = findings_named_store();
                g_autofree char *failed = g_strdup_printf(
                        "{'Failure': '%s: it says', 'FailedUSec': 7}", cases[i].word);
                g_autofree char *theirs = g_strdup_printf(
                        "{'Failure': '%s: the other side: it says', 'FailedUSec': 7}", cases[i].word);

                state_put_online(store, 4);
                /* What is wrong with the port of the peer is no matter of this one. */
                state_put_ports(store, 2, "mlx5_0.1", 3, "rxe0.1", theirs);
                check_port(store, port, 0, NULL, NULL);
                g_assert_cmpuint(findings_count_now(store, "link-probe-failing"), ==, 1);
                state_put_ports(store, 2, "mlx5_0.1", 3, "rxe0.1", failed);
                state_put_ports(store, 2, "mlx5_1.1", 3, "rxe0.1", failed);
                check_port(store, port, ALD_FINDING_ROW_SEVERITY_WARNING, cases[i].reason, cases[i].remedy);
                g_assert_cmpuint(findings_count_now(store, "link-probe-failing"), ==, 0);
                /* The newest of all peers tells. */
                state_put_ports(store, 2, "mlx5_0.1", 4, "rxe0.1", "{'MeasuredUSec': 8}");
                check_port(store, port, 0, NULL, NULL);
                state_put_ports(
                        store, 2, "mlx5_0.1", 4, "rxe0.1", "{'Failure': 'refused: x', 'FailedUSec': 9}");
                check_port(store, port, 0, NULL, NULL);
                g_assert_cmpuint(findings_count_now(store, "link-probe-failing"), ==, 1);
                state_put_ports(
                        store, 2, "mlx5_0.1", 3, "rxe0.1", "{'Failure': 'no-gidea: x', 'FailedUSec': 10}");
                check_port(store, port, 0, NULL, NULL);
        }
}

static void test_rdma_out_of_reach(void)
{
        g_autoptr(AldStore) store = findings_named_store();
        static const char soft[] = "'State': 'active', 'Interface': 'eth0', 'Gids': ['0 x y']";

        check_port(store, "'State': 'active', 'Gids': ['0 x y'], 'Problem': 'no-verbs'",
                ALD_FINDING_ROW_SEVERITY_WARNING, "the kernel does not offer it to programs",
                "Load the kernel module ib_uverbs.");
        state_put(store, 2, ALD_KIND_NETWORK,
                "{'Interfaces': [{'Id': 'br0', 'Type': 'bridge', 'Ports': ['eth0']}, {'Id': 'eth0', "
                "'Controller': 'br0'}]}");
        check_port(store, soft, ALD_FINDING_ROW_SEVERITY_WARNING,
                "its interface eth0 is a port of the bridge br0, which takes its packets",
                "Create the RDMA device on the bridge, or remove its interface from the bridge.");
        /* An adapter takes its own before the bridge sees them. */
        check_port(store, "'State': 'active', 'Interface': 'eth0', 'Driver': 'mlx5_core', 'Gids': ['0 x y']",
                0, NULL, NULL);
        state_put(store, 2, ALD_KIND_NETWORK,
                "{'Interfaces': [{'Id': 'bond0', 'Type': 'bond'}, {'Id': 'eth0', 'Controller': 'bond0'}]}");
        check_port(store, soft, 0, NULL, NULL);
        state_put(store, 2, ALD_KIND_NETWORK, "{'Interfaces': [{'Id': 'eth0', 'Controller': 'br0'}]}");
        check_port(store, soft, 0, NULL, NULL);
}

static void test_hardware_claimed_twice(void)
{
        static const char port[] = "{'RdmaPorts': [{'Id': 'rxe0.1', 'NodeGuid': '5254:00ff:fe12:3456'}]}";
        g_autoptr(AldStore) store = findings_named_store();

        state_put(store, 2, ALD_KIND_FABRIC, port);
        state_put(store, 3, ALD_KIND_FABRIC, port);
        state_put(store, 3, ALD_KIND_PRESENCE, "{'State': 'offline'}");
        g_assert_cmpuint(findings_count_now(store, "hardware-claimed-twice"), ==, 0);
        state_put_online(store, 3);
        findings_check(store, "hardware-claimed-twice", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2, 3),
                "two and three report 5254:00ff:fe12:3456 as their own, so links over it may be missing.",
                "Give a copied virtual machine hardware addresses and GUIDs of its own; a container need not "
                "show "
                "the devices of its host.");
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/findings-rdma/rdma-unusable", test_rdma_unusable);
        g_test_add_func("/findings-rdma/rdma-disabled", test_rdma_disabled);
        g_test_add_func("/findings-rdma/rdma-probes", test_rdma_that_probes_cannot_use);
        g_test_add_func("/findings-rdma/rdma-out-of-reach", test_rdma_out_of_reach);
        g_test_add_func("/findings-rdma/hardware-claimed-twice", test_hardware_claimed_twice);
        return g_test_run();
}
