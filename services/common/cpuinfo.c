/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fd.h"
#include "services/common/arm-cores.h"
#include "services/common/cpuinfo.h"
#include "services/common/firmware-text.h"
#include "services/common/instruction-sets.h"
#include "services/common/sysroot.h"

/* The rest is not read: on a machine with many processors it only repeats the entries before, and the kernel
 * is slow to make it. */
#define CPUINFO_MAX (64u * 1024)
#define KINDS_MAX 6u /* different cores or models in one machine */

typedef struct Parser {
        AldCpuinfo *result;
        GPtrArray *models; /* "model name" of x86 and loongarch, "cpu model" of mips */
        GPtrArray *uarchs; /* riscv */
        GArray *cores;     /* AldArmCore */
        unsigned implementer;
        char *isa;                        /* riscv */
        char *cpu;                        /* ppc64 */
        char *machine;                    /* s390x */
        char *vendor_id, *family, *model; /* x86 without a name */
        bool has_instruction_sets;        /* some processor has listed its instruction sets */
} Parser;

static void add_distinct(GPtrArray *strings, const char *value, size_t n)
{
        g_autofree char *text = strings->len < KINDS_MAX ? ald_firmware_text_normalize(value, n) : NULL;

        if (text && !g_ptr_array_find_with_equal_func(strings, text, g_str_equal, NULL))
                g_ptr_array_add(strings, g_steal_pointer(&text));
}

static void set_first(char **field, const char *value, size_t n)
{
        if (!*field)
                *field = ald_firmware_text_normalize(value, n);
}

/* Returns -1 for anything but a number of 16 bits. */
static int parse_id(const char *value, size_t n)
{
        g_autofree char *text = ald_firmware_text_normalize(value, n);
        char *end;
        unsigned long id;

        if (!text || !g_ascii_isdigit(*text))
                return -1;
        id = strtoul(text, &end, 0);
        return *end == '\0' && id <= UINT16_MAX ? (int) id : -1;
}

static void add_core(Parser *parser, const char *value, size_t n)
{
        int part = parse_id(value, n);
        AldArmCore core = { (uint16_t) parser->implementer, (uint16_t) part };

        if (part < 0 || parser->implementer == 0 || parser->cores->len >= KINDS_MAX)
                return;
        for (guint i = 0; i < parser->cores->len; i++) {
                AldArmCore known = g_array_index(parser->cores, AldArmCore, i);

                if (known.implementer == core.implementer && known.part == core.part)
                        return;
        }
        g_array_append_val(parser->cores, core);
}

static void set_implementer(Parser *parser, const char *value, size_t n)
{
        int id = parse_id(value, n);

        parser->implementer = id < 0 ? 0 : (unsigned) id;
}

/* Returns whether a list of words separated by spaces contains this one. */
static bool has_word(const char *text, size_t n, const char *word)
{
        size_t length = strlen(word);

        for (const char *p = text; (p = memmem(p, n - (size_t) (p - text), word, length)); p += length)
                if ((p == text || p[-1] == ' ') && (p + length == text + n || p[length] == ' '))
                        return true;
        return false;
}

/* Keeps the instruction sets that all processors have, since a program runs on any of them. */
static void limit_instruction_sets(Parser *parser, uint64_t sets)
{
        parser->result->instruction_sets = parser->has_instruction_sets
                                                   ? parser->result->instruction_sets & sets
                                                   : sets;
        parser->has_instruction_sets = true;
}

static void set_flags(Parser *parser, const char *value, size_t n)
{
        AldCpuinfo *result = parser->result;

        limit_instruction_sets(parser, ald_instruction_sets_of_flags(value, n));
        if (result->has_flags)
                return;
        result->has_flags = true;
        result->hypervisor = has_word(value, n, "hypervisor");
}

/* Reads a line of s390x: "version = FF, identification = 133EE8, machine = 8561". */
static void set_s390_machine(Parser *parser, const char *value, size_t n)
{
        const char *machine = memmem(value, n, "machine = ", strlen("machine = "));

        if (machine)
                set_first(&parser->machine, machine + 10, n - (size_t) (machine + 10 - value));
}

static void set_isa(Parser *parser, const char *value, size_t n)
{
        set_first(&parser->isa, value, n);
        limit_instruction_sets(parser, ald_instruction_sets_of_isa(value, n));
}

/* Reads a line of ppc64: "POWER9 (architected), altivec supported". */
static void set_power_name(Parser *parser, const char *value, size_t n)
{
        set_first(&parser->cpu, value, n);
        limit_instruction_sets(parser, ald_instruction_sets_of_flags(value, n));
}

/* Reads a line of ppc64: "2800.000000MHz". */
static void set_clock(AldCpuinfo *result, const char *value, size_t n)
{
        g_autofree char *text = ald_firmware_text_normalize(value, n);
        char *unit = NULL;
        double mhz = text && g_ascii_isdigit(*text) ? g_ascii_strtod(text, &unit) : 0;

        if (result->clock_hz == 0 && mhz > 0 && mhz < 1e6 && g_str_equal(unit, "MHz"))
                result->clock_hz = (uint64_t) (mhz * 1e6 + 0.5);
}

static bool is_key(const char *key, size_t n, const char *name)
{
        return strlen(name) == n && g_ascii_strncasecmp(key, name, n) == 0;
}

static void parse_entry(Parser *parser, const char *key, size_t k, const char *value, size_t n)
{
        if (is_key(key, k, "model name") || is_key(key, k, "cpu model"))
                add_distinct(parser->models, value, n);
        else if (is_key(key, k, "flags"))
                set_flags(parser, value, n);
        else if (is_key(key, k, "features"))
                limit_instruction_sets(parser, ald_instruction_sets_of_flags(value, n));
        else if (is_key(key, k, "microcode"))
                set_first(&parser->result->microcode, value, n);
        else if (is_key(key, k, "clock"))
                set_clock(parser->result, value, n);
        else if (is_key(key, k, "CPU implementer"))
                set_implementer(parser, value, n);
        else if (is_key(key, k, "CPU part"))
                add_core(parser, value, n);
        else if (is_key(key, k, "uarch"))
                add_distinct(parser->uarchs, value, n);
        else if (is_key(key, k, "isa"))
                set_isa(parser, value, n);
        else if (is_key(key, k, "cpu"))
                set_power_name(parser, value, n);
        else if (is_key(key, k, "vendor_id"))
                set_first(&parser->vendor_id, value, n);
        else if (is_key(key, k, "cpu family"))
                set_first(&parser->family, value, n);
        else if (is_key(key, k, "model"))
                set_first(&parser->model, value, n);
        else if (k > 10 && g_ascii_strncasecmp(key, "processor ", 10) == 0)
                set_s390_machine(parser, value, n);
}

/* Parses "key \t: value" and strips the blanks around key and value. */
static void parse_line(Parser *parser, const char *line, size_t length)
{
        const char *colon = memchr(line, ':', length);
        const char *value;
        size_t k, n;

        if (!colon)
                return;
        k = (size_t) (colon - line);
        while (k > 0 && (line[k - 1] == ' ' || line[k - 1] == '\t'))
                k--;
        value = colon + 1;
        n = length - (size_t) (value - line);
        while (n > 0 && (*value == ' ' || *value == '\t')) {
                value++;
                n--;
        }
        parse_entry(parser, line, k, value, n);
}

static char *join_names(GPtrArray *strings)
{
        g_ptr_array_add(strings, NULL);
        return g_strjoinv(" + ", (char **) strings->pdata);
}

static gint compare_rank(gconstpointer a, gconstpointer b)
{
        return (gint) ald_arm_core_rank(*(const AldArmCore *) a) -
               (gint) ald_arm_core_rank(*(const AldArmCore *) b);
}

static char *name_cores(GArray *cores)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);

        g_array_sort(cores, compare_rank);
        for (guint i = 0; i < cores->len; i++) {
                g_autofree char *name = ald_arm_core_name(g_array_index(cores, AldArmCore, i));

                add_distinct(names, name, strlen(name));
        }
        return join_names(names);
}

/* Returns the part of a value before any of these characters; NULL if it is empty. */
static char *first_part(const char *value, const char *ends)
{
        return ald_firmware_text_normalize(value, strcspn(value, ends));
}

static char *name_mainframe(const char *machine)
{
        static const struct {
                const char *machine;
                const char *name;
        } names[] = {
                { "2964", "z13" },
                { "2965", "z13s" },
                { "3906", "z14" },
                { "3907", "z14 ZR1" },
                { "8561", "z15" },
                { "8562", "z15 T02" },
                { "3931", "z16" },
                { "3932", "z16 A02" },
                { "9175", "z17" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                if (g_str_equal(names[i].machine, machine))
                        return g_strdup_printf("IBM %s", names[i].name);
        return g_strdup_printf("IBM Z %s", machine);
}

/* Names the chip. Arm comes first, since a 32-bit "model name" there says no more than "ARMv7 Processor". */
static char *name_chip(Parser *parser)
{
        if (parser->cores->len > 0)
                return name_cores(parser->cores);
        if (parser->models->len > 0 && !g_str_equal(parser->models->pdata[0], "unknown"))
                return join_names(parser->models);
        if (parser->uarchs->len > 0)
                return join_names(parser->uarchs);
        if (parser->isa)
                /* The long tail of extensions in rv64imafdc_zicsr_… does not help to tell chips apart. */
                return first_part(parser->isa, "_");
        if (parser->machine)
                return name_mainframe(parser->machine);
        if (parser->cpu)
                return first_part(parser->cpu, ",("); /* POWER9 (architected), altivec supported */
        if (parser->vendor_id && parser->family && parser->model)
                return g_strdup_printf(
                        "%s family %s model %s", parser->vendor_id, parser->family, parser->model);
        return NULL;
}

static const char *name_vendor(const Parser *parser)
{
        static const struct {
                const char *told;
                const char *name;
        } vendors[] = {
                { "AuthenticAMD", "AMD" },
                { "GenuineIntel", "Intel" },
                { "HygonGenuine", "Hygon" },
                { "CentaurHauls", "Zhaoxin" },
                { "Shanghai", "Zhaoxin" },
        };

        for (size_t i = 0; parser->vendor_id && i < G_N_ELEMENTS(vendors); i++)
                if (g_str_equal(vendors[i].told, parser->vendor_id))
                        return vendors[i].name;
        return ald_arm_implementer_name(parser->implementer);
}

void ald_cpuinfo_parse(const char *text, size_t length, AldCpuinfo *ret)
{
        const char *end = text + length;
        Parser parser = {
                .result = ret,
                .models = g_ptr_array_new_with_free_func(g_free),
                .uarchs = g_ptr_array_new_with_free_func(g_free),
                .cores = g_array_new(FALSE, FALSE, sizeof(AldArmCore)),
        };

        *ret = (AldCpuinfo){ 0 };
        for (const char *line = text; line < end;) {
                const char *newline = memchr(line, '\n', (size_t) (end - line));
                size_t n = (size_t) ((newline ? newline : end) - line);

                parse_line(&parser, line, n);
                line += n + 1;
        }
        ret->chip = name_chip(&parser);
        ret->vendor = name_vendor(&parser);
        ret->user_mode = parser.vendor_id && g_str_equal(parser.vendor_id, "User Mode Linux");

        g_ptr_array_unref(parser.models);
        g_ptr_array_unref(parser.uarchs);
        g_array_unref(parser.cores);
        g_free(parser.isa);
        g_free(parser.cpu);
        g_free(parser.machine);
        g_free(parser.vendor_id);
        g_free(parser.family);
        g_free(parser.model);
}

/* Reads the whole file, or as many whole lines of it as fit. */
static ssize_t read_start(int fd, char *buffer, size_t size)
{
        size_t have = 0;

        while (have < size) {
                ssize_t n = pread(fd, buffer + have, size - have, (off_t) have);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                if (n == 0)
                        break;
                have += (size_t) n;
        }
        if (have == size)
                while (have > 0 && buffer[have - 1] != '\n')
                        have--;
        return (ssize_t) have;
}

void ald_cpuinfo_read(int root, AldCpuinfo *ret)
{
        ald_fd int fd = ald_sysroot_open_file(root, "proc/cpuinfo");
        g_autofree char *text = NULL;
        ssize_t n = fd;

        *ret = (AldCpuinfo){ 0 };
        if (fd >= 0) {
                text = g_malloc(CPUINFO_MAX);
                n = read_start(fd, text, CPUINFO_MAX);
        }
        if (n < 0) {
                if (n != -ENOENT)
                        g_warning("Cannot read proc/cpuinfo: %s", g_strerror((int) -n));
                return;
        }
        ald_cpuinfo_parse(text, (size_t) n, ret);
}

void ald_cpuinfo_clear(AldCpuinfo *cpuinfo)
{
        g_clear_pointer(&cpuinfo->chip, g_free);
        g_clear_pointer(&cpuinfo->microcode, g_free);
}
