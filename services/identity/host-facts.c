/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <glib.h>
#include <systemd/sd-id128.h>

#include "services/common/container.h"
#include "services/common/cpuinfo.h"
#include "services/common/firmware-text.h"
#include "services/common/sysroot.h"
#include "services/identity/device-tree.h"
#include "services/identity/dmi.h"
#include "services/identity/host-facts.h"
#include "services/identity/os-release.h"

#define CPU_SIGNATURE_SIZE 13u

#if defined(__i386__) || defined(__x86_64__)
#include <cpuid.h>

#define HYPERVISOR_BIT (1u << 31)

/* Returns the hypervisor signature in CPUID leaf 0x40000000, such as KVMKVMKVM. Empty if there is none, and
 * on architectures other than x86. */
static void cpu_signature(char ret[static CPU_SIGNATURE_SIZE])
{
        unsigned eax, signature[3];

        memset(ret, 0, CPU_SIGNATURE_SIZE);
        if (!__get_cpuid(1, &eax, &signature[0], &signature[1], &signature[2]) ||
                !(signature[1] & HYPERVISOR_BIT))
                return;
        __cpuid(0x40000000u, eax, signature[0], signature[1], signature[2]);
        memcpy(ret, signature, sizeof signature);
}
#else
static void cpu_signature(char ret[static CPU_SIGNATURE_SIZE])
{
        memset(ret, 0, CPU_SIGNATURE_SIZE);
}
#endif

typedef struct Sign {
        const char *text;
        const char *name;
} Sign;

static const Sign by_cpuid[] = {
        { "ACRNACRNACRN", "acrn" },
        { "Apple VZ", "apple" },
        { "KVMKVMKVM", "kvm" },
        { "Linux KVM Hv", "kvm" },
        { "Microsoft Hv", "microsoft" },
        { "QNXQVMBSQG", "qnx" },
        { "SRESRESRESRE", "sre" },
        { "TCGTCGTCGTCG", "qemu" },
        { "VBoxVBoxVBox", "oracle" },
        { "VMwareVMware", "vmware" },
        { "XenVMMXenVMM", "xen" },
        { " lrpepyh vr", "parallels" },
        { "bhyve bhyve ", "bhyve" },
        { "prl hyperv  ", "parallels" },
};

/* The beginnings of DMI strings. Makers that build on another hypervisor are named here, which is more
 * specific than CPUID. */
static const Sign by_maker[] = {
        { "Amazon EC2", "amazon" },
        { "Apple Virtualization", "apple" },
        { "Cloud Hypervisor", "cloud-hypervisor" },
        { "Google Compute Engine", "google" },
        { "Parallels", "parallels" },
        { "VirtualBox", "oracle" },
        { "Xen", "xen" },
        { "innotek GmbH", "oracle" },
};
static const Sign by_dmi[] = {
        { "BHYVE", "bhyve" },
        { "Bochs", "bochs" },
        { "Hyper-V", "microsoft" },
        { "KVM", "kvm" },
        { "KubeVirt", "kvm" },
        { "OpenStack", "kvm" },
        { "QEMU", "qemu" },
        { "SeaBIOS", "qemu" },
        { "EFI Development Kit II / OVMF", "qemu" },
        /* The following are clouds on KVM. On their bare-metal machines, DMI has the names of the hardware's
         * makers. */
        { "AHV", "kvm" }, /* Nutanix */
        { "Akamai", "kvm" },
        { "Alibaba Cloud ECS", "kvm" },
        { "CVM", "kvm" }, /* Tencent */
        { "DigitalOcean", "kvm" },
        { "Exoscale", "kvm" },
        { "Hetzner", "kvm" },
        { "Huawei Cloud", "kvm" },
        { "Linode", "kvm" },
        { "Nutanix AHV", "kvm" },
        { "SCW-", "kvm" }, /* Scaleway */
        { "UpCloud", "kvm" },
        { "Vultr", "kvm" },
        { "VMW", "vmware" },
        { "VMware", "vmware" },
};

static const char *find_sign(const Sign *signs, size_t n, const char *text, bool whole)
{
        for (size_t i = 0; text && i < n; i++)
                if (whole ? g_str_equal(text, signs[i].text) : g_str_has_prefix(text, signs[i].text))
                        return signs[i].name;
        return NULL;
}

static const char *find_in_dmi(const Sign *signs, size_t n, const AldDmi *dmi)
{
        /* product_name comes first, since it identifies KVM where sys_vendor is QEMU for both. */
        const char *const texts[] = { dmi->product_name, dmi->sys_vendor, dmi->board_vendor, dmi->bios_vendor,
                dmi->product_version };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                const char *name = find_sign(signs, n, texts[i], false);

                if (name)
                        return name;
        }
        return NULL;
}

/* Returns whether this is a bare-metal machine of a cloud. Some clouds use the same vendor for these and for
 * virtual machines, but a name with "metal": c7g.metal, c7i.metal-24xl, c4a-highmem-96-metal, "… Bare Metal
 * Instance", BareMetal. */
static bool is_metal(const AldDmi *dmi)
{
        g_autofree char *name = dmi->product_name ? g_ascii_strdown(dmi->product_name, -1) : NULL;

        for (const char *metal = name; metal && (metal = strstr(metal, "metal")); metal++) {
                bool begins = metal == name || !g_ascii_isalnum(metal[-1]) ||
                              (metal - name >= 4 && strncmp(metal - 4, "bare", 4) == 0);

                if (begins && !g_ascii_isalpha(metal[strlen("metal")]))
                        return true;
        }
        return false;
}

static const char *hypervisor_by_maker(const AldDmi *dmi)
{
        const char *name = find_in_dmi(by_maker, G_N_ELEMENTS(by_maker), dmi);

        return name && is_metal(dmi) ? NULL : name;
}

static const char *hypervisor_by_dmi(const AldDmi *dmi)
{
        if (g_strcmp0(dmi->sys_vendor, "Microsoft Corporation") == 0 &&
                g_strcmp0(dmi->product_name, "Virtual Machine") == 0)
                return "microsoft";
        return is_metal(dmi) ? NULL : find_in_dmi(by_dmi, G_N_ELEMENTS(by_dmi), dmi);
}

/* Returns whether this is a domain of Xen other than the first, which owns the hardware and is not a guest.
 */
static bool is_xen_guest(int root)
{
        g_autofree char *type = ald_text_read(root, "sys/hypervisor/type");
        g_autofree char *capabilities = NULL;

        if (g_strcmp0(type, "xen") != 0)
                return false;
        capabilities = ald_text_read(root, "proc/xen/capabilities");
        return !capabilities || !strstr(capabilities, "control_d");
}

/* Returns whether this is Firecracker, which has no DMI and the signature of KVM. Only its generation counter
 * has this name. */
static bool is_firecracker(int root, const AldDmi *dmi)
{
        return !dmi->sys_vendor && (ald_sysroot_exists(root, "sys/bus/acpi/devices/FCVMGID:00") ||
                                           ald_sysroot_exists(root, "sys/bus/acpi/devices/VMGENCTR:00"));
}

/* Reads the hypervisor of s390x: "VM00 Control Program: z/VM 7.1.0" or "KVM/Linux". */
static const char *mainframe_hypervisor(int root)
{
        g_autofree char *sysinfo = NULL;
        ssize_t n = ald_bytes_read(root, "proc/sysinfo", &sysinfo);
        const char *program = n > 0 ? strstr(sysinfo, "Control Program:") : NULL;

        if (!program)
                return NULL;
        return strstr(program, "z/VM") ? "zvm" : "kvm";
}

static const char *x86_hypervisor(int root, const char *signature, const AldDmi *dmi)
{
        const char *name = hypervisor_by_maker(dmi);

        if (!name && is_firecracker(root, dmi))
                name = "firecracker";
        if (!name)
                name = find_sign(by_cpuid, G_N_ELEMENTS(by_cpuid), signature, true);
        if (!name)
                name = hypervisor_by_dmi(dmi);
        return name ? name : "other";
}

/*
 * Returns the hypervisor of a virtual machine, as named by systemd-detect-virt(1), or by a more specific name
 * of the monitor: firecracker, cloud-hypervisor. Returns "other" if it is unknown, and NULL on bare metal.
 * `signature` is the one of CPUID, empty if it was not queried.
 */
static const char *detect_hypervisor(int root, const char *signature, const AldCpuinfo *cpuinfo,
        const AldDmi *dmi, const AldDeviceTree *tree)
{
        const char *name;

        if (cpuinfo->user_mode)
                return "uml";
        if (is_xen_guest(root))
                return "xen";
        if (cpuinfo->has_flags)
                return cpuinfo->hypervisor || *signature ? x86_hypervisor(root, signature, dmi) : NULL;

        name = hypervisor_by_maker(dmi);
        if (!name)
                name = hypervisor_by_dmi(dmi);
        if (!name)
                name = tree->hypervisor;
        return name ? name : mainframe_hypervisor(root);
}

/* Maps the chassis types of SMBIOS, 7.4.1. Only the obvious ones are mapped, since firmware often sets the
 * others wrongly. */
static const char *chassis_by_dmi(uint64_t type)
{
        switch (type) {
        case 0x03: /* desktop */
        case 0x04: /* low profile desktop */
        case 0x06: /* mini tower */
        case 0x07: /* tower */
        case 0x0d: /* all in one */
        case 0x23: /* mini PC */
        case 0x24: /* stick PC */
                return "desktop";
        case 0x08: /* portable */
        case 0x09: /* laptop */
        case 0x0a: /* notebook */
        case 0x0e: /* sub notebook */
                return "laptop";
        case 0x0b: /* hand held */
                return "handset";
        case 0x11: /* main server chassis */
        case 0x1c: /* blade */
        case 0x1d: /* blade enclosure */
                return "server";
        case 0x1e: /* tablet */
                return "tablet";
        case 0x1f: /* convertible */
        case 0x20: /* detachable */
                return "convertible";
        case 0x21: /* IoT gateway */
        case 0x22: /* embedded PC */
                return "embedded";
        default:
                return NULL;
        }
}

/* Maps the power management profiles of ACPI, 5.2.9.1. */
static const char *chassis_by_acpi(int root)
{
        uint64_t profile;

        if (ald_sysroot_read_uint64(root, "sys/firmware/acpi/pm_profile", &profile) < 0)
                return NULL;
        switch (profile) {
        case 1: /* desktop */
        case 3: /* workstation */
        case 6: /* appliance PC */
                return "desktop";
        case 2: /* mobile */
                return "laptop";
        case 4: /* enterprise server */
        case 5: /* SOHO server */
        case 7: /* performance server */
                return "server";
        case 8: /* tablet */
                return "tablet";
        default:
                return NULL;
        }
}

/* Returns the chassis type as named by hostname1, or NULL. Owned by `tree` or static. */
static const char *detect_chassis(int root, bool is_virtual, const AldDmi *dmi, const AldDeviceTree *tree)
{
        const char *chassis;

        if (ald_root_is_container(root))
                return "container";
        if (is_virtual)
                return "vm";
        chassis = chassis_by_dmi(dmi->chassis_type);
        if (!chassis)
                chassis = chassis_by_acpi(root);
        return chassis ? chassis : tree->chassis_type;
}

typedef struct Soc {
        const char *id;
        const char *name;
} Soc;

static const Soc by_compatible[] = {
        { "apple,t6000", "Apple M1 Pro" },
        { "apple,t6001", "Apple M1 Max" },
        { "apple,t6002", "Apple M1 Ultra" },
        { "apple,t6020", "Apple M2 Pro" },
        { "apple,t6021", "Apple M2 Max" },
        { "apple,t6022", "Apple M2 Ultra" },
        { "apple,t8103", "Apple M1" },
        { "apple,t8112", "Apple M2" },
        { "brcm,bcm2711", "Broadcom BCM2711" },
        { "brcm,bcm2712", "Broadcom BCM2712" },
        { "brcm,bcm2837", "Broadcom BCM2837" },
        { "nvidia,tegra186", "NVIDIA Tegra X2" },
        { "nvidia,tegra194", "NVIDIA Xavier" },
        { "nvidia,tegra210", "NVIDIA Tegra X1" },
        { "nvidia,tegra234", "NVIDIA Orin" },
        { "nvidia,tegra264", "NVIDIA Thor" },
        { "qcom,sc8280xp", "Qualcomm SC8280XP" },
        { "qcom,x1e80100", "Qualcomm X1E80100" },
        { "rockchip,rk3399", "Rockchip RK3399" },
        { "rockchip,rk3566", "Rockchip RK3566" },
        { "rockchip,rk3568", "Rockchip RK3568" },
        { "rockchip,rk3576", "Rockchip RK3576" },
        { "rockchip,rk3588", "Rockchip RK3588" },
        { "rockchip,rk3588s", "Rockchip RK3588S" },
        { "sophgo,sg2042", "SOPHGO SG2042" },
        { "spacemit,k1", "SpacemiT K1" },
        { "starfive,jh7110", "StarFive JH7110" },
        { "thead,th1520", "T-Head TH1520" },
};

/* The JEP-106 code of the maker and the number of the chip, from SMCCC_ARCH_SOC_ID. */
static const Soc by_firmware[] = {
        { "jep106:036b:0241", "NVIDIA Grace" },
};

static const char *find_soc(const Soc *socs, size_t n, const char *id)
{
        for (size_t i = 0; i < n; i++)
                if (g_str_equal(socs[i].id, id))
                        return socs[i].name;
        return NULL;
}

/*
 * Returns the name of the system on chip, from the compatible names of the device tree, or from
 * sys/devices/soc0, where the firmware of an Arm machine reports it, such as "NVIDIA Grace". NULL if unknown.
 */
static const char *soc_name(int root, const char *const *compatible)
{
        g_autofree char *id = NULL;

        for (; *compatible; compatible++) {
                const char *name = find_soc(by_compatible, G_N_ELEMENTS(by_compatible), *compatible);

                if (name)
                        return name;
        }
        id = ald_text_read(root, "sys/devices/soc0/soc_id");
        return id ? find_soc(by_firmware, G_N_ELEMENTS(by_firmware), id) : NULL;
}

/* Returns whether the root is that of this machine, rather than of a test. */
static bool is_real_root(int root)
{
        struct stat real, given;

        return stat("/", &real) == 0 && fstat(root, &given) == 0 && real.st_dev == given.st_dev &&
               real.st_ino == given.st_ino;
}

static char *read_kernel(int root, const char *path, const char *fallback)
{
        char *text = ald_text_read(root, path);

        return text || !is_real_root(root) ? text : ald_firmware_text_normalize(fallback, strlen(fallback));
}

char *ald_facts_read_host_name(int root)
{
        struct utsname uts;

        uname(&uts);
        return read_kernel(root, "proc/sys/kernel/hostname", uts.nodename);
}

static void collect_kernel(int root, AldFacts *facts)
{
        struct utsname uts;

        uname(&uts);
        facts->host_name = ald_facts_read_host_name(root);
        facts->kernel_release = read_kernel(root, "proc/sys/kernel/osrelease", uts.release);
        facts->architecture = is_real_root(root) ? g_strdup(uts.machine)
                                                 : ald_text_read(root, "proc/sys/kernel/arch");
}

static char *read_boot_id(int root)
{
        g_autofree char *text = ald_text_read(root, "proc/sys/kernel/random/boot_id");
        char hex[SD_ID128_STRING_MAX];
        sd_id128_t id;

        if (!text || sd_id128_from_string(text, &id) < 0)
                return NULL;
        return g_strdup(sd_id128_to_string(id, hex));
}

static void collect_hardware(int root, AldFacts *facts)
{
        g_auto(AldDmi) dmi = { 0 };
        g_auto(AldDeviceTree) tree = { 0 };
        g_auto(AldCpuinfo) cpuinfo = { 0 };
        char signature[CPU_SIGNATURE_SIZE] = "";
        const char *vendor, *model, *soc;

        ald_dmi_read(root, &dmi);
        ald_device_tree_read(root, &tree);
        ald_cpuinfo_read(root, &cpuinfo);
        if (is_real_root(root))
                cpu_signature(signature);

        vendor = ald_dmi_vendor(&dmi);
        facts->vendor = vendor ? g_strdup(vendor) : ald_device_tree_vendor(&tree);
        model = ald_dmi_model(&dmi);
        facts->model = g_strdup(model ? model : tree.model);
        soc = soc_name(root, (const char *const *) tree.compatible);
        facts->chip = soc && cpuinfo.chip ? g_strdup_printf("%s (%s)", soc, cpuinfo.chip)
                                          : g_strdup(soc ? soc : cpuinfo.chip);
        facts->hypervisor = g_strdup(detect_hypervisor(root, signature, &cpuinfo, &dmi, &tree));
        facts->chassis = g_strdup(detect_chassis(root, facts->hypervisor != NULL, &dmi, &tree));
}

void ald_facts_collect(int root, AldFacts *ret)
{
        *ret = (AldFacts){
                .operating_system = ald_os_release_read(root),
                .boot_id = read_boot_id(root),
        };
        collect_kernel(root, ret);
        collect_hardware(root, ret);
}

char *ald_facts_sum_sources(int root)
{
        static const char *const paths[] = { "etc/os-release", "usr/lib/os-release",
                "sys/class/dmi/id/sys_vendor", "sys/class/dmi/id/product_name",
                "sys/class/dmi/id/product_version", "sys/class/dmi/id/board_vendor",
                "sys/class/dmi/id/board_name", "sys/class/dmi/id/bios_vendor",
                "sys/class/dmi/id/chassis_type" };
        g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);

        for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
                g_autofree char *text = NULL;
                ssize_t n = ald_bytes_try_read(root, paths[i], &text);

                if (n >= 0)
                        g_checksum_update(sum, (const guchar *) text, n);
                g_checksum_update(sum, (const guchar *) (n < 0 ? "-" : "+"), 1);
        }
        return g_strdup(g_checksum_get_string(sum));
}

void ald_facts_clear(AldFacts *facts)
{
        g_free(facts->host_name);
        g_free(facts->model);
        g_free(facts->chip);
        g_free(facts->vendor);
        g_free(facts->chassis);
        g_free(facts->hypervisor);
        g_free(facts->operating_system);
        g_free(facts->kernel_release);
        g_free(facts->architecture);
        g_free(facts->boot_id);
        *facts = (AldFacts){ 0 };
}
