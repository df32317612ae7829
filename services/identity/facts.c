/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <systemd/sd-id128.h>

#include "services/common/cpuinfo.h"
#include "services/common/text.h"
#include "services/identity/chassis.h"
#include "services/identity/cpu-signature.h"
#include "services/identity/device-tree.h"
#include "services/identity/dmi.h"
#include "services/identity/facts.h"
#include "services/identity/hypervisor.h"
#include "services/identity/os-release.h"
#include "services/identity/soc.h"

/* Whether the root is that of this machine, rather than of a test. */
static bool is_real_root(int root)
{
        struct stat real, given;

        return stat("/", &real) == 0 && fstat(root, &given) == 0 && real.st_dev == given.st_dev &&
               real.st_ino == given.st_ino;
}

static char *read_kernel(int root, const char *path, const char *fallback)
{
        char *text = ald_text_read(root, path);

        return text || !is_real_root(root) ? text : ald_text_tidy(fallback, strlen(fallback));
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

static char *name_chip(const char *soc, const char *cores)
{
        if (soc && cores)
                return g_strdup_printf("%s (%s)", soc, cores);
        return g_strdup(soc ? soc : cores);
}

static void collect_hardware(int root, AldFacts *facts)
{
        g_auto(AldDmi) dmi = { 0 };
        g_auto(AldDeviceTree) tree = { 0 };
        g_auto(AldCpuinfo) cpuinfo = { 0 };
        char signature[ALD_CPU_SIGNATURE_SIZE] = "";
        const char *vendor, *model, *soc;

        ald_dmi_read(root, &dmi);
        ald_device_tree_read(root, &tree);
        ald_cpuinfo_read(root, &cpuinfo);
        if (is_real_root(root))
                ald_cpu_signature(signature);

        vendor = ald_dmi_vendor(&dmi);
        facts->vendor = vendor ? g_strdup(vendor) : ald_device_tree_vendor(&tree);
        model = ald_dmi_model(&dmi);
        facts->model = g_strdup(model ? model : tree.model);
        soc = ald_soc_name(root, (const char *const *) tree.compatible);
        facts->chip = name_chip(soc, cpuinfo.chip);
        facts->hypervisor = g_strdup(ald_hypervisor_detect(root, signature, &cpuinfo, &dmi, &tree));
        facts->chassis = g_strdup(ald_chassis_detect(root, facts->hypervisor != NULL, &dmi, &tree));
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
