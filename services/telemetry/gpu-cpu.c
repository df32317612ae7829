/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "services/common/fd.h"
#include "services/common/sysroot.h"
#include "services/telemetry/gpu-cpu.h"

#define CPUINFO_READ (16u * 1024)

/* Arm's processors tell numbers only. */
static const struct {
        unsigned implementer;
        unsigned part;
        const char *name;
} arm_parts[] = {
        { 0x41, 0xd03, "Cortex-A53" },
        { 0x41, 0xd05, "Cortex-A55" },
        { 0x41, 0xd07, "Cortex-A57" },
        { 0x41, 0xd08, "Cortex-A72" },
        { 0x41, 0xd09, "Cortex-A73" },
        { 0x41, 0xd0a, "Cortex-A75" },
        { 0x41, 0xd0b, "Cortex-A76" },
        { 0x41, 0xd0c, "Neoverse N1" },
        { 0x41, 0xd0d, "Cortex-A77" },
        { 0x41, 0xd40, "Neoverse V1" },
        { 0x41, 0xd41, "Cortex-A78" },
        { 0x41, 0xd42, "Cortex-A78AE" },
        { 0x41, 0xd44, "Cortex-X1" },
        { 0x41, 0xd46, "Cortex-A510" },
        { 0x41, 0xd47, "Cortex-A710" },
        { 0x41, 0xd48, "Cortex-X2" },
        { 0x41, 0xd49, "Neoverse N2" },
        { 0x41, 0xd4b, "Cortex-A78C" },
        { 0x41, 0xd4d, "Cortex-A715" },
        { 0x41, 0xd4e, "Cortex-X3" },
        { 0x41, 0xd4f, "Neoverse V2" },
        { 0x41, 0xd80, "Cortex-A520" },
        { 0x41, 0xd81, "Cortex-A720" },
        { 0x41, 0xd82, "Cortex-X4" },
        { 0x41, 0xd83, "Neoverse V3AE" },
        { 0x41, 0xd84, "Neoverse V3" },
        { 0x41, 0xd85, "Cortex-X925" },
        { 0x41, 0xd87, "Cortex-A725" },
        { 0x41, 0xd8e, "Neoverse N3" },
        { 0x4e, 0x004, "Carmel" },
        { 0xc0, 0xac3, "Ampere-1" },
        { 0xc0, 0xac4, "Ampere-1A" },
};

static const struct {
        const char *told; /* vendor_id, or the implementer's number */
        const char *name;
} vendors[] = {
        { "AuthenticAMD", "AMD" },
        { "GenuineIntel", "Intel" },
        { "HygonGenuine", "Hygon" },
        { "CentaurHauls", "Zhaoxin" },
        { "Shanghai", "Zhaoxin" },
        { "0x41", "Arm" },
        { "0x48", "HiSilicon" },
        { "0x4e", "NVIDIA" },
        { "0x51", "Qualcomm" },
        { "0x61", "Apple" },
        { "0xc0", "Ampere" },
};

/* The value behind the first line with this key, freed by the caller. */
static char *find(const char *text, const char *key)
{
        size_t length = strlen(key);

        for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
                const char *end = line + strcspn(line, "\n"),
                           *colon = memchr(line, ':', (size_t) (end - line));
                const char *after = line + length;
                char *value;

                if (!colon || (size_t) (colon - line) < length || memcmp(line, key, length) != 0)
                        continue;
                after += strspn(after, " \t");
                if (after != colon)
                        continue;
                value = g_strstrip(g_strndup(colon + 1, (gsize) (end - colon - 1)));
                if (*value != '\0')
                        return value;
                g_free(value);
        }
        return NULL;
}

static char *find_arm_name(const char *text)
{
        g_autofree char *implementer = find(text, "CPU implementer"), *part = find(text, "CPU part");

        if (!implementer || !part)
                return NULL;
        for (size_t i = 0; i < G_N_ELEMENTS(arm_parts); i++)
                if (arm_parts[i].implementer == strtoul(implementer, NULL, 16) &&
                        arm_parts[i].part == strtoul(part, NULL, 16))
                        return g_strdup(arm_parts[i].name);
        return NULL;
}

static char *find_name(const char *text)
{
        /* In the words of x86, MIPS and LoongArch, POWER, RISC-V, and Arm boards. "cpu" comes after "model
         * name", and "Hardware" last, since it names the board. */
        static const char *const keys[] = { "model name", "cpu model", "cpu", "uarch" };
        char *name;

        for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
                name = find(text, keys[i]);
                if (name)
                        return name;
        }
        name = find_arm_name(text);
        return name ?: find(text, "Hardware");
}

static char *find_vendor(const char *text)
{
        g_autofree char *told = find(text, "vendor_id");

        if (!told)
                told = find(text, "CPU implementer");
        for (size_t i = 0; told && i < G_N_ELEMENTS(vendors); i++)
                if (g_str_equal(vendors[i].told, told))
                        return g_strdup(vendors[i].name);
        return NULL;
}

void ald_gpu_parse_cpuinfo(const char *text, char **ret_name, char **ret_vendor)
{
        char *name = find_name(text), *vendor = find_vendor(text);

        if (name)
                *ret_name = name;
        if (vendor)
                *ret_vendor = vendor;
}

uint64_t ald_gpu_host_memory(int root)
{
        g_autofree char *text = NULL, *total = NULL;
        char *end;
        guint64 kib;

        if (ald_sysroot_read(root, "proc/meminfo", &text) < 0)
                return ALD_ABSENT_UINT64;
        total = find(text, "MemTotal");
        if (!total)
                return ALD_ABSENT_UINT64;
        kib = g_ascii_strtoull(total, &end, 10);
        if (end == total || !g_str_equal(end, " kB") || kib == 0 || kib > ALD_INTEGER_MAX / 1024)
                return ALD_ABSENT_UINT64;
        return kib * 1024;
}

/* The first processors are enough: with hundreds of them the file is long, and slow to make. */
static char *read_cpuinfo(int root)
{
        g_autofree char *text = g_malloc(CPUINFO_READ);
        ald_fd int fd = ald_sysroot_open_file(root, "proc/cpuinfo");
        ssize_t n = fd < 0 ? fd : ald_sysroot_reread(fd, text, CPUINFO_READ - 1);

        if (n < 0 && n != -EFBIG)
                return NULL;
        if (n < 0)
                text[CPUINFO_READ - 1] = '\0';
        return g_utf8_make_valid(text, -1);
}

AldGpu *ald_gpu_cpu(int root, uint64_t host_memory)
{
        AldGpu *cpu = ald_gpu_new(ALD_CPU_ID, NULL, ALD_BACKEND_CLASS_CPU);
        g_autofree char *text = read_cpuinfo(root);

        cpu->sysfs.unified = 1;
        cpu->sysfs.memory_total_bytes = host_memory;
        if (text)
                ald_gpu_parse_cpuinfo(text, &cpu->sysfs.name, &cpu->vendor);
        return cpu;
}
