/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/common/sysroot.h"
#include "services/common/text.h"
#include "services/identity/hypervisor.h"

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

/* Beginnings of DMI strings. Those of makers that build on another hypervisor say more than CPUID does. */
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
        { "VMW", "vmware" },
        { "VMware", "vmware" },
};

static const char *find(const Sign *signs, size_t n, const char *text, bool whole)
{
        for (size_t i = 0; text && i < n; i++)
                if (whole ? g_str_equal(text, signs[i].text) : g_str_has_prefix(text, signs[i].text))
                        return signs[i].name;
        return NULL;
}

static const char *find_in_dmi(const Sign *signs, size_t n, const AldDmi *dmi)
{
        /* product_name first: it tells KVM apart where sys_vendor is QEMU for both. */
        const char *const texts[] = { dmi->product_name, dmi->sys_vendor, dmi->board_vendor, dmi->bios_vendor,
                dmi->product_version };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                const char *name = find(signs, n, texts[i], false);

                if (name)
                        return name;
        }
        return NULL;
}

/* Amazon's whole machines bear the same vendor as its virtual ones: c7g.metal, c7i.metal-24xl. */
static bool is_metal(const AldDmi *dmi)
{
        const char *metal = dmi->product_name ? strstr(dmi->product_name, ".metal") : NULL;

        return metal && (metal[6] == '\0' || metal[6] == '-');
}

static const char *maker(const AldDmi *dmi)
{
        const char *name = find_in_dmi(by_maker, G_N_ELEMENTS(by_maker), dmi);

        return name && g_str_equal(name, "amazon") && is_metal(dmi) ? NULL : name;
}

static const char *dmi_hypervisor(const AldDmi *dmi)
{
        if (g_strcmp0(dmi->sys_vendor, "Microsoft Corporation") == 0 &&
                g_strcmp0(dmi->product_name, "Virtual Machine") == 0)
                return "microsoft";
        return find_in_dmi(by_dmi, G_N_ELEMENTS(by_dmi), dmi);
}

/* The first domain of Xen owns the hardware and is no guest. */
static bool is_xen_guest(int root)
{
        g_autofree char *type = ald_text_read(root, "sys/hypervisor/type");
        g_autofree char *capabilities = NULL;

        if (g_strcmp0(type, "xen") != 0)
                return false;
        capabilities = ald_text_read(root, "proc/xen/capabilities");
        return !capabilities || !strstr(capabilities, "control_d");
}

/* Firecracker has no DMI and KVM's signature; the name of its generation counter is its own. */
static bool is_firecracker(int root, const AldDmi *dmi)
{
        return !dmi->sys_vendor && (ald_sysroot_exists(root, "sys/bus/acpi/devices/FCVMGID:00") ||
                                           ald_sysroot_exists(root, "sys/bus/acpi/devices/VMGENCTR:00"));
}

/* s390x: "VM00 Control Program: z/VM    7.1.0" or "KVM/Linux" */
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
        const char *name = maker(dmi);

        if (!name && is_firecracker(root, dmi))
                name = "firecracker";
        if (!name)
                name = find(by_cpuid, G_N_ELEMENTS(by_cpuid), signature, true);
        if (!name)
                name = dmi_hypervisor(dmi);
        return name ? name : "other";
}

const char *ald_hypervisor_detect(int root, const char *signature, const AldCpuinfo *cpuinfo,
        const AldDmi *dmi, const AldDeviceTree *tree)
{
        const char *name;

        if (cpuinfo->user_mode)
                return "uml";
        if (is_xen_guest(root))
                return "xen";
        if (cpuinfo->has_flags)
                return cpuinfo->hypervisor || *signature ? x86_hypervisor(root, signature, dmi) : NULL;

        name = maker(dmi);
        if (!name)
                name = dmi_hypervisor(dmi);
        if (!name)
                name = tree->hypervisor;
        return name ? name : mainframe_hypervisor(root);
}
