/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "services/common/instruction-sets.h"

/* The names in alphabetical order, as the kernel writes them. x86 has avx512_bf16, Arm asimd and bf16, POWER
 * altivec, IBM Z vx, and LoongArch lasx. */
static const char *const names[] = { "altivec", "amx_bf16", "amx_complex", "amx_fp16", "amx_int8", "amx_tile",
        "asimd", "asimddp", "asimdfhm", "asimdhp", "avx", "avx10", "avx2", "avx512_bf16", "avx512_fp16",
        "avx512_vnni", "avx512bw", "avx512dq", "avx512f", "avx512vl", "avx_ifma", "avx_ne_convert",
        "avx_vnni", "avx_vnni_int16", "avx_vnni_int8", "bf16", "f16c", "fma", "fphp", "i8mm", "lasx", "lsx",
        "mma", "neon", "nnpa", "sme", "sme2", "sve", "sve2", "svebf16", "svei8mm", "v", "vsx", "vx", "vxe",
        "vxe2", "zfh", "zvfbfmin", "zvfbfwma", "zvfh", "zvfhmin" };

G_STATIC_ASSERT(G_N_ELEMENTS(names) <= 64);

const char **ald_instruction_sets_list(uint64_t sets)
{
        const char **list = sets != 0 ? g_new0(const char *, G_N_ELEMENTS(names) + 1) : NULL;

        for (size_t i = 0, n = 0; list && i < G_N_ELEMENTS(names); i++)
                if (sets & UINT64_C(1) << i)
                        list[n++] = names[i];
        return list;
}

static uint64_t find_set(const char *name, size_t length)
{
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
                        return UINT64_C(1) << i;
        return 0;
}

uint64_t ald_instruction_set(const char *name)
{
        return find_set(name, strlen(name));
}

static uint64_t find_words(const char *text, size_t length, char separator)
{
        const char *end = text + length;
        uint64_t sets = 0;

        while (text < end) {
                const char *blank = memchr(text, separator, (size_t) (end - text)) ?: end;

                sets |= find_set(text, (size_t) (blank - text));
                text = blank + 1;
        }
        return sets;
}

uint64_t ald_instruction_sets_of_flags(const char *text, size_t length)
{
        return find_words(text, length, ' ');
}

/* The text is "rv64", one letter for each extension, and then extensions with longer names, which begin with
 * s, x or z. */
uint64_t ald_instruction_sets_of_isa(const char *isa, size_t length)
{
        const char *end = isa + length, *letters = isa + 4, *rest = letters;
        uint64_t sets = 0;

        if (length < 4 || (memcmp(isa, "rv64", 4) != 0 && memcmp(isa, "rv32", 4) != 0))
                return 0;
        while (rest < end && !strchr("_sxz", *rest))
                rest++;
        if (memchr(letters, 'v', (size_t) (rest - letters)))
                sets = ald_instruction_set("v");
        return sets | find_words(rest, (size_t) (end - rest), '_');
}
