/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/identity/host-facts.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"

/* Whole machines, as their /proc and /sys show them. */

#define DMI "sys/class/dmi/id/"
#define TREE "sys/firmware/devicetree/base/"
#define CPUINFO "proc/cpuinfo"
#define X86(name, flags) "vendor_id\t: GenuineIntel\nmodel name\t: " name "\nflags\t\t: fpu vme " flags "\n"
#define ARM(part) "CPU implementer\t: 0x41\nCPU part\t: " part "\n\n"
#define APPLE(part) "CPU implementer\t: 0x61\nCPU part\t: " part "\n\n"
#define FILES_MAX 8

typedef struct File {
        const char *path;
        const char *content; /* a trailing "|" stands for a NUL byte, as device trees have them */
} File;

typedef struct Machine {
        const char *name;
        File files[FILES_MAX];
        const char *vendor, *model, *chip, *chassis, *hypervisor;
} Machine;

static const Machine machines[] = {
        { "laptop",
                { { DMI "sys_vendor", "LENOVO\n" }, { DMI "product_name", "20XW0055GE\n" },
                        { DMI "product_version", "ThinkPad X1 Carbon Gen 9\n" },
                        { DMI "chassis_type", "10\n" },
                        { CPUINFO, X86("11th Gen Intel(R) Core(TM) i7-1165G7 @ 2.80GHz", "") } },
                "LENOVO", "ThinkPad X1 Carbon Gen 9", "11th Gen Intel(R) Core(TM) i7-1165G7 @ 2.80GHz",
                "laptop", NULL },
        { "empty-dmi",
                { { DMI "sys_vendor", "\n" }, { DMI "product_name", "\n" }, { DMI "chassis_type", "2\n" },
                        { CPUINFO, X86("Intel(R) N100", "") } },
                NULL, NULL, "Intel(R) N100", NULL, NULL },
        { "chassis-by-acpi",
                { { DMI "chassis_type", "23\n" }, { "sys/firmware/acpi/pm_profile", "4\n" },
                        { DMI "sys_vendor", "Supermicro\n" }, { DMI "product_name", "SYS-221GE-NR\n" },
                        { CPUINFO, X86("INTEL(R) XEON(R) PLATINUM 8568Y+", "") } },
                "Supermicro", "SYS-221GE-NR", "INTEL(R) XEON(R) PLATINUM 8568Y+", "server", NULL },
        { "strix-halo",
                { { DMI "sys_vendor", "Framework\n" },
                        { DMI "product_name", "Desktop (AMD Ryzen AI Max 300 Series)\n" },
                        { DMI "chassis_type", "3\n" },
                        { CPUINFO, X86("AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", "") } },
                "Framework", "Desktop (AMD Ryzen AI Max 300 Series)", "AMD RYZEN AI MAX+ 395 w/ Radeon 8060S",
                "desktop", NULL },
        { "gb10",
                { { DMI "sys_vendor", "NVIDIA\n" }, { DMI "product_name", "NVIDIA_DGX_Spark\n" },
                        { DMI "chassis_type", "35\n" }, { "sys/devices/soc0/soc_id", "jep106:0426:8901\n" },
                        { CPUINFO, ARM("0xd87") ARM("0xd85") } },
                "NVIDIA", "NVIDIA_DGX_Spark", "Cortex-X925 + Cortex-A725", "desktop", NULL },
        { "grace",
                { { DMI "sys_vendor", "NVIDIA\n" }, { DMI "product_name", "Grace CPU Superchip\n" },
                        { DMI "chassis_type", "17\n" }, { "sys/devices/soc0/soc_id", "jep106:036b:0241\n" },
                        { CPUINFO, ARM("0xd4f") } },
                "NVIDIA", "Grace CPU Superchip", "NVIDIA Grace (Neoverse-V2)", "server", NULL },
        { "altra",
                { { DMI "sys_vendor", "GIGABYTE\n" }, { DMI "product_name", "R272-P30-JG\n" },
                        { DMI "chassis_type", "17\n" }, { CPUINFO, ARM("0xd0c") } },
                "GIGABYTE", "R272-P30-JG", "Neoverse-N1", "server", NULL },
        { "raspberry-pi",
                { { TREE "model", "Raspberry Pi 5 Model B Rev 1.0|" },
                        { TREE "compatible", "raspberrypi,5-model-b|brcm,bcm2712|" },
                        { CPUINFO, ARM("0xd0b") } },
                "Raspberry Pi", "Raspberry Pi 5 Model B Rev 1.0", "Broadcom BCM2712 (Cortex-A76)", NULL,
                NULL },
        { "jetson",
                { { TREE "model", "NVIDIA Jetson AGX Orin Developer Kit|" },
                        { TREE "compatible",
                                "nvidia,p3737-0000+p3701-0005|nvidia,p3701-0005|nvidia,tegra234|" },
                        { TREE "chassis-type", "embedded|" }, { CPUINFO, ARM("0xd42") } },
                "NVIDIA", "NVIDIA Jetson AGX Orin Developer Kit", "NVIDIA Orin (Cortex-A78AE)", "embedded",
                NULL },
        { "dmi-before-tree",
                { { DMI "sys_vendor", "NVIDIA\n" }, { DMI "product_name", "Unknown\n" },
                        { TREE "model", "NVIDIA Jetson Orin Nano|" }, { TREE "compatible", "nvidia,p3768|" },
                        { CPUINFO, ARM("0xd42") } },
                "NVIDIA", "NVIDIA Jetson Orin Nano", "Cortex-A78AE", NULL, NULL },
        { "asahi",
                { { TREE "model", "Apple Mac mini (M1, 2020)|" },
                        { TREE "compatible", "apple,j274|apple,t8103|" }, { TREE "chassis-type", "desktop|" },
                        { CPUINFO, APPLE("0x022") APPLE("0x023") } },
                "Apple Inc.", "Apple Mac mini (M1, 2020)", "Apple M1 (Firestorm + Icestorm)", "desktop",
                NULL },
        { "visionfive",
                { { TREE "model", "StarFive VisionFive 2 v1.3B|" },
                        { TREE "compatible", "starfive,visionfive-2-v1.3b|starfive,jh7110|" },
                        { CPUINFO, "processor\t: 0\nisa\t\t: rv64imafdc\nuarch\t\t: sifive,u74-mc\n" } },
                "StarFive", "StarFive VisionFive 2 v1.3B", "StarFive JH7110 (sifive,u74-mc)", NULL, NULL },
        { "power9",
                { { TREE "model", "9006-22P|" }, { TREE "compatible", "ibm,powernv|ibm,p9-openbmc|" },
                        { CPUINFO, "cpu\t\t: POWER9, altivec supported\n" } },
                "IBM", "9006-22P", "POWER9", NULL, NULL },
        { "powervm",
                { { TREE "model", "IBM,9080-M9S|" }, { TREE "compatible", "IBM,9080-M9S|" },
                        { TREE "ibm,partition-name", "lpar1|" }, { TREE "hmc-managed?", "|" },
                        { CPUINFO, "cpu\t\t: POWER9 (architected), altivec supported\n" } },
                "IBM", "IBM,9080-M9S", "POWER9", "vm", "powervm" },
        { "pseries-qemu",
                { { TREE "model", "IBM pSeries (emulated by qemu)|" }, { TREE "compatible", "qemu,pseries|" },
                        { CPUINFO, "cpu\t\t: POWER10 (architected), altivec supported\n" } },
                "QEMU", "IBM pSeries (emulated by qemu)", "POWER10", "vm", "qemu" },
        { "mainframe-zvm",
                { { "proc/sysinfo", "Manufacturer: IBM\nVM00 Control Program: z/VM    7.2.0\n" },
                        { CPUINFO, "processor 0: version = FF,  identification = 1,  machine = 3931\n" } },
                NULL, NULL, "IBM z16", "vm", "zvm" },
        { "mainframe-kvm",
                { { "proc/sysinfo", "VM00 Control Program: KVM/Linux\n" },
                        { CPUINFO, "processor 0: version = FF,  identification = 1,  machine = 3931\n" } },
                NULL, NULL, "IBM z16", "vm", "kvm" },

        { "qemu",
                { { DMI "sys_vendor", "QEMU\n" }, { DMI "product_name", "Standard PC (Q35 + ICH9, 2009)\n" },
                        { DMI "chassis_type", "1\n" }, { CPUINFO, X86("QEMU Virtual CPU", "hypervisor") } },
                "QEMU", "Standard PC (Q35 + ICH9, 2009)", "QEMU Virtual CPU", "vm", "qemu" },
        { "kvm-by-product",
                { { DMI "sys_vendor", "Red Hat\n" }, { DMI "product_name", "KVM\n" },
                        { CPUINFO, X86("a", "hypervisor") } },
                "Red Hat", "KVM", "a", "vm", "kvm" },
        { "vmware",
                { { DMI "sys_vendor", "VMware, Inc.\n" }, { DMI "product_name", "VMware20,1\n" },
                        { CPUINFO, X86("a", "hypervisor") } },
                "VMware, Inc.", "VMware20,1", "a", "vm", "vmware" },
        { "hyper-v",
                { { DMI "sys_vendor", "Microsoft Corporation\n" },
                        { DMI "product_name", "Virtual Machine\n" }, { CPUINFO, X86("a", "hypervisor") } },
                "Microsoft Corporation", "Virtual Machine", "a", "vm", "microsoft" },
        { "surface-is-no-vm",
                { { DMI "sys_vendor", "Microsoft Corporation\n" },
                        { DMI "product_name", "Surface Laptop 4\n" }, { DMI "chassis_type", "9\n" },
                        { CPUINFO, X86("a", "") } },
                "Microsoft Corporation", "Surface Laptop 4", "a", "laptop", NULL },
        { "virtualbox",
                { { DMI "sys_vendor", "innotek GmbH\n" }, { DMI "product_name", "VirtualBox\n" },
                        { CPUINFO, X86("a", "hypervisor") } },
                "innotek GmbH", "VirtualBox", "a", "vm", "oracle" },
        { "parallels",
                { { DMI "sys_vendor", "Parallels International GmbH.\n" },
                        { DMI "product_name", "Parallels ARM Virtual Machine\n" },
                        { CPUINFO, APPLE("0x000") } },
                "Parallels International GmbH.", "Parallels ARM Virtual Machine", "Apple silicon", "vm",
                "parallels" },
        { "apple-virtualization",
                { { DMI "sys_vendor", "Apple Inc.\n" },
                        { DMI "product_name", "Apple Virtualization Generic Platform\n" },
                        { CPUINFO, APPLE("0x000") } },
                "Apple Inc.", "Apple Virtualization Generic Platform", "Apple silicon", "vm", "apple" },
        { "macbook-is-no-vm",
                { { DMI "sys_vendor", "Apple Inc.\n" }, { DMI "product_name", "MacBookPro16,1\n" },
                        { DMI "chassis_type", "9\n" }, { CPUINFO, X86("a", "") } },
                "Apple Inc.", "MacBookPro16,1", "a", "laptop", NULL },
        { "nitro",
                { { DMI "sys_vendor", "Amazon EC2\n" }, { DMI "product_name", "m7i.large\n" },
                        { CPUINFO, X86("a", "hypervisor") } },
                "Amazon EC2", "m7i.large", "a", "vm", "amazon" },
        { "nutanix-on-arm",
                { { DMI "sys_vendor", "Nutanix\n" }, { DMI "product_name", "AHV\n" },
                        { CPUINFO, ARM("0xd40") } },
                "Nutanix", "AHV", "Neoverse-V1", "vm", "kvm" },
        { "nutanix-whole",
                { { DMI "sys_vendor", "Nutanix\n" }, { DMI "product_name", "NX-3060-G5\n" },
                        { CPUINFO, ARM("0xd40") } },
                "Nutanix", "NX-3060-G5", "Neoverse-V1", NULL, NULL },
        { "graviton-metal",
                { { DMI "sys_vendor", "Amazon EC2\n" }, { DMI "product_name", "c7g.metal\n" },
                        { DMI "chassis_type", "17\n" }, { CPUINFO, ARM("0xd40") } },
                "Amazon EC2", "c7g.metal", "Neoverse-V1", "server", NULL },
        { "graviton",
                { { DMI "sys_vendor", "Amazon EC2\n" }, { DMI "product_name", "c7g.xlarge\n" },
                        { CPUINFO, ARM("0xd40") } },
                "Amazon EC2", "c7g.xlarge", "Neoverse-V1", "vm", "amazon" },
        { "google-metal-on-arm",
                { { DMI "sys_vendor", "Google\n" },
                        { DMI "product_name", "Google Compute Engine c4a-metal\n" },
                        { CPUINFO, ARM("0xd4f") } },
                "Google", "Google Compute Engine c4a-metal", "Neoverse-V2", NULL, NULL },
        { "hetzner-on-arm",
                { { DMI "sys_vendor", "Hetzner\n" }, { DMI "product_name", "vServer\n" },
                        { CPUINFO, ARM("0xd0c") } },
                "Hetzner", "vServer", "Neoverse-N1", "vm", "kvm" },
        { "alibaba-on-arm",
                { { DMI "sys_vendor", "Alibaba Cloud\n" }, { DMI "product_name", "Alibaba Cloud ECS\n" },
                        { CPUINFO, ARM("0xd49") } },
                "Alibaba Cloud", "Alibaba Cloud ECS", "Neoverse-N2", "vm", "kvm" },
        { "whole-machine-on-arm",
                { { DMI "sys_vendor", "GIGABYTE\n" }, { DMI "product_name", "R152-P30-00\n" },
                        { DMI "chassis_type", "17\n" }, { CPUINFO, ARM("0xd0c") } },
                "GIGABYTE", "R152-P30-00", "Neoverse-N1", "server", NULL },
        { "google",
                { { DMI "sys_vendor", "Google\n" }, { DMI "product_name", "Google Compute Engine\n" },
                        { CPUINFO, X86("a", "hypervisor") } },
                "Google", "Google Compute Engine", "a", "vm", "google" },
        { "cloud-hypervisor",
                { { DMI "sys_vendor", "Cloud Hypervisor\n" }, { DMI "product_name", "cloud-hypervisor\n" },
                        { CPUINFO, X86("a", "hypervisor") } },
                "Cloud Hypervisor", "cloud-hypervisor", "a", "vm", "cloud-hypervisor" },
        { "xen-guest",
                { { "sys/hypervisor/type", "xen\n" }, { "proc/xen/capabilities", "" },
                        { CPUINFO, X86("a", "") } },
                NULL, NULL, "a", "vm", "xen" },
        { "xen-dom0",
                { { "sys/hypervisor/type", "xen\n" }, { "proc/xen/capabilities", "control_d\n" },
                        { DMI "chassis_type", "17\n" }, { CPUINFO, X86("a", "") } },
                NULL, NULL, "a", "server", NULL },
        { "firecracker",
                { { "sys/bus/acpi/devices/VMGENCTR:00/hid", "VMGENCTR\n" },
                        { CPUINFO, X86("Intel(R) Xeon(R) Processor", "hypervisor") } },
                NULL, NULL, "Intel(R) Xeon(R) Processor", "vm", "firecracker" },
        { "firecracker-old",
                { { "sys/bus/acpi/devices/FCVMGID:00/hid", "FCVMGID\n" },
                        { CPUINFO, X86("a", "hypervisor") } },
                NULL, NULL, "a", "vm", "firecracker" },
        { "firecracker-arm",
                { { TREE "compatible", "linux,dummy-virt|" },
                        { TREE "vmgenid/compatible", "microsoft,vmgenid|" }, { CPUINFO, ARM("0xd40") } },
                NULL, NULL, "Neoverse-V1", "vm", "firecracker" },
        { "kvmtool-arm", { { TREE "compatible", "linux,dummy-virt|" }, { CPUINFO, ARM("0xd40") } }, NULL,
                NULL, "Neoverse-V1", "vm", "kvm" },
        { "qemu-arm",
                { { TREE "compatible", "linux,dummy-virt|" },
                        { TREE "fw-cfg@9020000/compatible", "qemu,fw-cfg-mmio|" },
                        { CPUINFO, ARM("0xd03") } },
                NULL, NULL, "Cortex-A53", "vm", "qemu" },
        { "xen-arm",
                { { TREE "compatible", "xen,xenvm-4.17|xen,xenvm|" },
                        { TREE "hypervisor/compatible", "xen,xen-4.17|xen,xen|" },
                        { CPUINFO, ARM("0xd03") } },
                "xen", NULL, "Cortex-A53", "vm", "xen" },
        { "hidden-hypervisor", { { CPUINFO, X86("a", "hypervisor") } }, NULL, NULL, "a", "vm", "other" },
        { "uml", { { CPUINFO, "vendor_id\t: User Mode Linux\nmodel name\t: UML\n" } }, NULL, NULL, "UML",
                "vm", "uml" },

        { "container-in-vm",
                { { "run/systemd/container", "systemd-nspawn\n" }, { DMI "sys_vendor", "VMware, Inc.\n" },
                        { CPUINFO, X86("a", "hypervisor") } },
                "VMware, Inc.", NULL, "a", "container", "vmware" },
        { "docker", { { ".dockerenv", "" }, { DMI "chassis_type", "17\n" }, { CPUINFO, X86("a", "") } }, NULL,
                NULL, "a", "container", NULL },
        { "lxc", { { "proc/1/environ", "TERM=linux|container=lxc|" }, { CPUINFO, X86("a", "") } }, NULL, NULL,
                "a", "container", NULL },
        { "pod",
                { { "proc/self/cgroup", "4:memory:/kubepods.slice/kubepods-pod1.slice/ab\n" },
                        { CPUINFO, X86("a", "") } },
                NULL, NULL, "a", "container", NULL },
        { "pod-by-namespace", { { "sys/fs/cgroup/cgroup.type", "domain\n" }, { CPUINFO, X86("a", "") } },
                NULL, NULL, "a", "container", NULL },
        { "node-of-kubernetes",
                { { "proc/1/cgroup", "0::/init.scope\n" }, { "proc/self/cgroup", "0::/system.slice/x\n" },
                        { "sys/fs/cgroup/kubepods.slice/cgroup.type", "domain\n" },
                        { CPUINFO, X86("a", "") } },
                NULL, NULL, "a", NULL, NULL },
        { "no-container", { { "proc/1/environ", "TERM=container=no|" }, { CPUINFO, X86("a", "") } }, NULL,
                NULL, "a", NULL, NULL },
        { "nothing", { { NULL } }, NULL, NULL, NULL, NULL, NULL },
};

static void write_file(FakeRoot *root, const File *file)
{
        size_t size = strlen(file->content);
        g_autofree char *bytes = g_strdelimit(g_strdup(file->content), "|", '\0');

        fake_root_write_bytes(root, file->path, bytes, size);
}

static void test_machine(gconstpointer data)
{
        const Machine *machine = data;
        g_autoptr(FakeRoot) root = fake_root_new();
        g_auto(AldFacts) facts = { 0 };

        for (size_t i = 0; i < FILES_MAX && machine->files[i].path; i++)
                write_file(root, &machine->files[i]);
        log_count_reset();
        ald_facts_collect(root->fd, &facts);
        g_assert_cmpstr(facts.vendor, ==, machine->vendor);
        g_assert_cmpstr(facts.model, ==, machine->model);
        g_assert_cmpstr(facts.chip, ==, machine->chip);
        g_assert_cmpstr(facts.chassis, ==, machine->chassis);
        g_assert_cmpstr(facts.hypervisor, ==, machine->hypervisor);
        g_assert_cmpuint(log_count(""), ==, 0);
}

static void test_kernel(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_auto(AldFacts) facts = { 0 };

        fake_root_write_all(root, "proc/sys/kernel/hostname", "node7\n", "proc/sys/kernel/osrelease",
                "6.8.0-test\n", "proc/sys/kernel/arch", "riscv64\n", "proc/sys/kernel/random/boot_id",
                "00112233-4455-6677-8899-AABBCCDDEEFF\n", "etc/os-release", "PRETTY_NAME='Test 1'\n", NULL);
        ald_facts_collect(root->fd, &facts);
        g_assert_cmpstr(facts.host_name, ==, "node7");
        g_assert_cmpstr(facts.kernel_release, ==, "6.8.0-test");
        g_assert_cmpstr(facts.architecture, ==, "riscv64");
        g_assert_cmpstr(facts.boot_id, ==, "00112233445566778899aabbccddeeff");
        g_assert_cmpstr(facts.operating_system, ==, "Test 1");
}

/* This machine's own facts never stand in for those that a given root lacks. */
static void test_kernel_absent(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_auto(AldFacts) facts = { 0 };

        fake_root_write(root, "proc/sys/kernel/random/boot_id", "not a boot id\n");
        ald_facts_collect(root->fd, &facts);
        g_assert_null(facts.host_name);
        g_assert_null(facts.kernel_release);
        g_assert_null(facts.architecture);
        g_assert_null(facts.boot_id);
        g_assert_null(facts.operating_system);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        for (size_t i = 0; i < G_N_ELEMENTS(machines); i++) {
                g_autofree char *path = g_strconcat("/identity/facts/machine/", machines[i].name, NULL);

                g_test_add_data_func(path, &machines[i], test_machine);
        }
        g_test_add_func("/identity/facts/kernel", test_kernel);
        g_test_add_func("/identity/facts/kernel-absent", test_kernel_absent);
        return g_test_run();
}
