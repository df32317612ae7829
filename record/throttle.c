/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stddef.h>
#include <string.h>

#include <glib.h>

#include "record/throttle.h"

#define N_REASONS 4u
#define ALL_REASONS ((1u << N_REASONS) - 1)

#define POWER "power"
#define THERMAL "thermal"
#define HARDWARE "hardware"
#define SETTING "setting"

/* The words of each combination, so that a row can point to them without owning anything. */
static const char *const combinations[ALL_REASONS + 1][N_REASONS + 1] = {
        [0] = { NULL },
        [1] = { POWER },
        [2] = { THERMAL },
        [3] = { POWER, THERMAL },
        [4] = { HARDWARE },
        [5] = { POWER, HARDWARE },
        [6] = { THERMAL, HARDWARE },
        [7] = { POWER, THERMAL, HARDWARE },
        [8] = { SETTING },
        [9] = { POWER, SETTING },
        [10] = { THERMAL, SETTING },
        [11] = { POWER, THERMAL, SETTING },
        [12] = { HARDWARE, SETTING },
        [13] = { POWER, HARDWARE, SETTING },
        [14] = { THERMAL, HARDWARE, SETTING },
        [15] = { POWER, THERMAL, HARDWARE, SETTING },
};

const char *const *ald_throttle_words(unsigned reasons)
{
        return combinations[reasons & ALL_REASONS];
}

unsigned ald_throttle_from_words(const char *const *words)
{
        unsigned ret = 0;

        for (; words && *words; words++)
                for (unsigned i = 0; i < N_REASONS; i++)
                        if (g_str_equal(*words, combinations[1u << i][0]))
                                ret |= 1u << i;
        return ret;
}

/* Bits of a driver from `first` to `last`, with what they mean. */
typedef struct Bits {
        unsigned first, last;
        AldThrottle reason;
} Bits;

static unsigned find_reasons(uint64_t set, const Bits *bits, size_t n)
{
        unsigned ret = 0;

        for (size_t i = 0; i < n; i++)
                for (unsigned bit = bits[i].first; bit <= bits[i].last; bit++)
                        if (set >> bit & 1)
                                ret |= bits[i].reason;
        return ret;
}

unsigned ald_throttle_from_nvml(uint64_t bits)
{
        /* Idle (0) and sync boost (4) do not limit the device. */
        static const Bits known[] = {
                { 1, 1, ALD_THROTTLE_SETTING },  /* application clocks */
                { 2, 2, ALD_THROTTLE_POWER },    /* power cap, by software */
                { 3, 3, ALD_THROTTLE_HARDWARE }, /* slowdown */
                { 5, 6, ALD_THROTTLE_THERMAL },  /* by software; by hardware */
                { 7, 7, ALD_THROTTLE_HARDWARE }, /* power brake */
                { 8, 8, ALD_THROTTLE_SETTING },  /* of the display */
        };

        return find_reasons(bits, known, G_N_ELEMENTS(known));
}

unsigned ald_throttle_from_amdgpu(uint64_t bits)
{
        static const Bits known[] = {
                { 0, 7, ALD_THROTTLE_POWER },     /* package power, sustained and short */
                { 16, 23, ALD_THROTTLE_POWER },   /* currents */
                { 32, 43, ALD_THROTTLE_THERMAL }, /* of the chip, its memory, regulators and cooling liquid */
                { 44, 47, ALD_THROTTLE_HARDWARE }, /* hot regulators; PROCHOT */
                { 56, 56, ALD_THROTTLE_POWER },    /* of the machine */
        };

        return find_reasons(bits, known, G_N_ELEMENTS(known));
}

unsigned ald_throttle_from_intel(const char *name)
{
        /* The words that the names of files contain, after varying prefixes. */
        static const struct {
                const char *word;
                AldThrottle reason;
        } known[] = {
                { "pl1", ALD_THROTTLE_POWER },
                { "pl2", ALD_THROTTLE_POWER },
                { "pl4", ALD_THROTTLE_POWER },
                { "iccmax", ALD_THROTTLE_POWER },
                { "psys", ALD_THROTTLE_POWER },
                { "thermal", ALD_THROTTLE_THERMAL },
                { "prochot", ALD_THROTTLE_HARDWARE },
                { "ratl", ALD_THROTTLE_THERMAL },
                { "vr_", ALD_THROTTLE_HARDWARE },
        };

        if (!strstr(name, "reason_"))
                return 0;
        for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
                if (strstr(name, known[i].word))
                        return known[i].reason;
        return 0;
}
