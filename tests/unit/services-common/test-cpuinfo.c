/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/common/cpuinfo.h"
#include "services/common/instruction-sets.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"

#define X86(name, flags)                                                                                  \
        "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: " name \
        "\nstepping\t: 8\nfpu\t\t: yes\nflags\t\t: " flags "\nbugs\t\t: none\n\n"
#define ARM(implementer, part)                                                                      \
        "processor\t: 0\nBogoMIPS\t: 108.00\nFeatures\t: fp asimd\nCPU implementer\t: " implementer \
        "\nCPU architecture: 8\nCPU variant\t: 0x4\nCPU part\t: " part "\nCPU revision\t: 1\n\n"
#define RISCV(rest) "processor\t: 0\nhart\t\t: 1\n" rest "mmu\t\t: sv39\n\n"

typedef struct Case {
        const char *name;
        const char *text;
        const char *chip;
} Case;

static const Case cases[] = {
        { "x86", X86("Intel(R) Xeon(R) Processor", "fpu vme"), "Intel(R) Xeon(R) Processor" },
        { "strix-halo",
                X86("AMD RYZEN AI MAX+ 395 w/ Radeon 8060S ", "fpu")
                        X86("AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", "fpu"),
                "AMD RYZEN AI MAX+ 395 w/ Radeon 8060S" },
        { "x86-blanks", X86("  Intel(R)  Atom(TM) CPU   N270  @ 1.60GHz", "fpu"),
                "Intel(R) Atom(TM) CPU N270 @ 1.60GHz" },
        { "x86-two-models", X86("Model A", "fpu") X86("Model B", "fpu") X86("Model A", "fpu"),
                "Model A + Model B" },
        { "x86-unknown", X86("unknown", "fpu"), "GenuineIntel family 6 model 143" },
        { "x86-without-name", "vendor_id\t: CyrixInstead\ncpu family\t: 4\nmodel\t\t: 9\n",
                "CyrixInstead family 4 model 9" },
        { "raspberry-pi-5", ARM("0x41", "0xd0b") ARM("0x41", "0xd0b"), "Cortex-A76" },
        { "altra", ARM("0x41", "0xd0c"), "Neoverse-N1" },
        { "grace", ARM("0x41", "0xd4f"), "Neoverse-V2" },
        { "gb10-small-first", ARM("0x41", "0xd87") ARM("0x41", "0xd85") ARM("0x41", "0xd87"),
                "Cortex-X925 + Cortex-A725" },
        { "gb10-big-first", ARM("0x41", "0xd85") ARM("0x41", "0xd87"), "Cortex-X925 + Cortex-A725" },
        { "rk3588", ARM("0x41", "0xd05") ARM("0x41", "0xd0b"), "Cortex-A76 + Cortex-A55" },
        { "apple-m1", ARM("0x61", "0x022") ARM("0x61", "0x023"), "Firestorm + Icestorm" },
        { "apple-guest", ARM("0x61", "0x000"), "Apple silicon" },
        { "ampere-one", ARM("0xc0", "0xac3"), "AmpereOne" },
        { "a64fx", ARM("0x46", "0x001"), "A64FX" },
        { "vera", ARM("0x4e", "0x010"), "Olympus" },
        { "arm-unknown-part", ARM("0x41", "0xfff"), "Arm part 0xfff" },
        { "arm-unknown-maker", ARM("0x12", "0x3"), "implementer 0x12 part 0x003" },
        { "arm32",
                "processor\t: 0\nmodel name\t: ARMv7 Processor rev 4 (v7l)\n" ARM(
                        "0x41", "0xd08") "Hardware\t: BCM2835\n",
                "Cortex-A72" },
        { "arm-absurd-part", ARM("0x41", "banana") "model name\t: Fallback\n", "Fallback" },
        { "arm-huge-part", ARM("0x41", "0x123456789abcdef0123") "model name\t: Fallback\n", "Fallback" },
        { "arm-no-maker", "CPU part\t: 0xd0b\n", NULL },
        { "riscv-uarch", RISCV("isa\t\t: rv64imafdc\nuarch\t\t: sifive,u74-mc\n"), "sifive,u74-mc" },
        { "riscv-isa", RISCV("isa\t\t: rv64imafdcv_zicbom_zicboz_zicntr\n"), "rv64imafdcv" },
        { "power9",
                "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 2166.000000MHz\nrevision\t: "
                "2.3\n"
                "\ntimebase\t: 512000000\nplatform\t: PowerNV\nmodel\t\t: 9006-22P\nmachine\t\t: PowerNV "
                "9006-22P\n",
                "POWER9" },
        { "power10", "processor\t: 0\ncpu\t\t: POWER10 (architected), altivec supported\n", "POWER10" },
        { "s390x",
                "vendor_id       : IBM/S390\n# processors    : 2\nfeatures\t: esan3 zarch\n"
                "processor 0: version = FF,  identification = 133EE8,  machine = 8561\n"
                "processor 1: version = FF,  identification = 133EE8,  machine = 8561\n",
                "IBM z15" },
        { "s390x-new", "processor 0: version = FF,  identification = 1,  machine = 9999\n", "IBM Z 9999" },
        { "loongarch",
                "system type\t\t: generic-loongson-machine\n\nprocessor\t\t: 0\nCPU Family\t\t: "
                "Loongson-64bit\n"
                "Model Name\t\t: Loongson-3A5000\n",
                "Loongson-3A5000" },
        { "mips", "system type\t\t: MIPS Malta\ncpu model\t\t: MIPS P5600 V0.2\n", "MIPS P5600 V0.2" },
        { "empty", "", NULL },
        { "newlines", "\n\n\n", NULL },
        { "no-colons", "processor 0\nmodel name Intel\n", NULL },
        { "colons", ":::\n:\n\t:\n", NULL },
        { "cut", "processor\t: 0\nmodel name\t: Intel(R) Xe", "Intel(R) Xe" },
        { "cut-in-key", "processor\t: 0\nmodel na", NULL },
        { "not-utf-8", "model name\t: \xff\xfe\n", NULL },
};

static void test_chip(gconstpointer data)
{
        const Case *c = data;
        g_auto(AldCpuinfo) cpuinfo = { 0 };

        ald_cpuinfo_parse(c->text, strlen(c->text), &cpuinfo);
        g_assert_cmpstr(cpuinfo.chip, ==, c->chip);
}

static void test_flags(void)
{
        static const struct {
                const char *text;
                bool has_flags, hypervisor, user_mode;
        } flags[] = {
                { X86("a", "fpu hypervisor lahf_lm"), true, true, false },
                { X86("a", "hypervisor"), true, true, false },
                { X86("a", "fpu nohypervisor hypervisors"), true, false, false },
                { X86("a", "fpu"), true, false, false },
                { ARM("0x41", "0xd0b"), false, false, false },
                { "vendor_id\t: User Mode Linux\nmodel name\t: UML\n", false, false, true },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(flags); i++) {
                g_auto(AldCpuinfo) cpuinfo = { 0 };

                ald_cpuinfo_parse(flags[i].text, strlen(flags[i].text), &cpuinfo);
                g_assert_cmpint(cpuinfo.has_flags, ==, flags[i].has_flags);
                g_assert_cmpint(cpuinfo.hypervisor, ==, flags[i].hypervisor);
                g_assert_cmpint(cpuinfo.user_mode, ==, flags[i].user_mode);
        }
}

static void test_vendor(void)
{
        static const struct {
                const char *text, *vendor;
        } vendors[] = {
                { X86("a", "fpu"), "Intel" },
                { "vendor_id\t:   Shanghai  \n", "Zhaoxin" },
                { "vendor_id\t: IBM/S390\n", NULL },
                { ARM("0x41", "0xfff"), "Arm" },
                { ARM("0x4e", "0x010"), "NVIDIA" },
                { ARM("0x12", "0x003"), NULL },
                { "", NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(vendors); i++) {
                g_auto(AldCpuinfo) cpuinfo = { 0 };

                ald_cpuinfo_parse(vendors[i].text, strlen(vendors[i].text), &cpuinfo);
                g_assert_cmpstr(cpuinfo.vendor, ==, vendors[i].vendor);
        }
}

#define FEATURES(words) "Features\t: " words "\n"

/* Those that all processors have. */
static void test_instruction_sets(void)
{
        static const struct {
                const char *text, *sets;
        } words[] = {
                { X86("a", "fpu sse2 avx avx2 avx512f amx_tile"), "amx_tile avx avx2 avx512f" },
                { X86("a", "avx avx2 avx512f") X86("a", "fpu avx avx2"), "avx avx2" },
                { X86("a", "avx") X86("a", "fpu"), NULL },
                { X86("a", "xavx avx2x avx-512"), NULL },
                { FEATURES("fp asimd sve sve2 i8mm"), "asimd i8mm sve sve2" },
                { FEATURES("half thumb neon vfpv4"), "neon" },
                { "features\t: esan3 zarch vx vxe nnpa\n", "nnpa vx vxe" },
                { RISCV("isa\t\t: rv64imafdcv_zicsr_zvfh\n"), "v zvfh" },
                { RISCV("isa\t\t: rv64imafdc_zve64x_zfh_sv39\n"), "zfh" },
                { RISCV("isa\t\t: rv64imafdcsv\n"), NULL },
                { RISCV("isa\t\t: v\n"), NULL },
                { "cpu\t\t: POWER9, altivec supported\n", "altivec" },
                { "cpu\t\t: POWER5\n", NULL },
                { "", NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
                g_auto(AldCpuinfo) cpuinfo = { 0 };
                g_autofree const char **list = NULL;
                g_autofree char *sets = NULL;

                ald_cpuinfo_parse(words[i].text, strlen(words[i].text), &cpuinfo);
                list = ald_instruction_sets_list(cpuinfo.instruction_sets);
                sets = list ? g_strjoinv(" ", (char **) list) : NULL;
                g_assert_cmpstr(sets, ==, words[i].sets);
        }
}

static void test_microcode_and_clock(void)
{
        static const struct {
                const char *text, *microcode;
                uint64_t clock_hz;
        } lines[] = {
                { "microcode\t: 0x2b000590\nmicrocode\t: 0x1\n", "0x2b000590", 0 },
                { "clock\t\t: 2800.000000MHz\n", NULL, UINT64_C(2800000000) },
                { "clock\t\t: 3.5GHz\n", NULL, 0 },
                { "clock\t\t: fast\nclock\t\t: -1MHz\nclock\t\t: 1e300MHz\n", NULL, 0 },
                { "cpu MHz\t\t: 2800.000\n", NULL, 0 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
                g_auto(AldCpuinfo) cpuinfo = { 0 };

                ald_cpuinfo_parse(lines[i].text, strlen(lines[i].text), &cpuinfo);
                g_assert_cmpstr(cpuinfo.microcode, ==, lines[i].microcode);
                g_assert_cmpuint(cpuinfo.clock_hz, ==, lines[i].clock_hz);
        }
}

/* However many kinds a hostile file lists, the name stays one that can be shown. */
static void test_many_kinds(void)
{
        g_autoptr(GString) text = g_string_new(NULL);
        g_auto(AldCpuinfo) cpuinfo = { 0 };

        for (int i = 0; i < 10000; i++)
                g_string_append_printf(text, "model name\t: Model %d\n", i);
        ald_cpuinfo_parse(text->str, text->len, &cpuinfo);
        g_assert_true(g_str_has_prefix(cpuinfo.chip, "Model 0 + Model 1 + "));
        g_assert_cmpuint(strlen(cpuinfo.chip), <, 100);
}

static void read_chip(FakeRoot *root, const char *expected)
{
        g_auto(AldCpuinfo) cpuinfo = { 0 };

        ald_cpuinfo_read(root->fd, &cpuinfo);
        g_assert_cmpstr(cpuinfo.chip, ==, expected);
}

static void test_read(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GString) text = g_string_new(NULL);

        log_count_reset();
        read_chip(root, NULL);
        g_assert_cmpuint(log_count(""), ==, 0);

        /* 2 MiB: a machine of many hundred processors. */
        while (text->len < 2 * 1024 * 1024)
                g_string_append(
                        text, X86("AMD EPYC 9965 192-Core Processor", "fpu vme de pse tsc msr pae mce"));
        fake_root_write(root, "proc/cpuinfo", text->str);
        read_chip(root, "AMD EPYC 9965 192-Core Processor");

        /* Wherever it is cut, no half of a name is taken for another. */
        g_string_assign(text, "");
        while (text->len < 256 * 1024)
                g_string_append(text, "model name\t: Some Processor\n");
        fake_root_write(root, "proc/cpuinfo", text->str);
        read_chip(root, "Some Processor");

        /* One line of 1 MiB, and no other. */
        g_string_assign(text, "model name\t: ");
        while (text->len < 1024 * 1024)
                g_string_append(text, "0123456789abcdef");
        fake_root_write(root, "proc/cpuinfo", text->str);
        read_chip(root, NULL);
}

static void test_read_broken(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();

        log_count_reset();
        fake_root_mkdir(root, "proc/cpuinfo");
        read_chip(root, NULL);
        g_assert_cmpuint(log_count("Cannot read proc/cpuinfo"), ==, 1);
        fake_root_remove(root, "proc/cpuinfo");
        fake_root_fifo(root, "proc/cpuinfo");
        read_chip(root, NULL);
        g_assert_cmpuint(log_count("Cannot read proc/cpuinfo"), ==, 2);
        fake_root_remove(root, "proc/cpuinfo");
        fake_root_link(root, "proc/cpuinfo", "nowhere");
        read_chip(root, NULL);
        g_assert_cmpuint(log_count("Cannot read proc/cpuinfo"), ==, 2);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *path = g_strconcat("/cpuinfo/chip/", cases[i].name, NULL);

                g_test_add_data_func(path, &cases[i], test_chip);
        }
        g_test_add_func("/cpuinfo/flags", test_flags);
        g_test_add_func("/cpuinfo/vendor", test_vendor);
        g_test_add_func("/cpuinfo/instruction-sets", test_instruction_sets);
        g_test_add_func("/cpuinfo/microcode-and-clock", test_microcode_and_clock);
        g_test_add_func("/cpuinfo/many-kinds", test_many_kinds);
        g_test_add_func("/cpuinfo/read", test_read);
        g_test_add_func("/cpuinfo/read-broken", test_read_broken);
        return g_test_run();
}
