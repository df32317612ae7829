/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "record/field.h"
#include "services/common/sysroot.h"
#include "services/common/thunderbolt.h"

#define BITS_PER_GIGABIT UINT64_C(1000000000)
#define LANES_MAX 8u

/* Reads the speed of one lane, "20.0 Gb/s"; 0 if it is missing. */
static uint64_t read_lane(int root, const char *host)
{
        g_autofree char *path = g_strdup_printf("%s/tx_speed", host), *text = NULL;
        char *unit;
        double gigabits;

        if (ald_sysroot_read_string(root, path, &text) < 0)
                return 0;
        gigabits = g_ascii_strtod(text, &unit);
        return g_str_equal(unit, " Gb/s") && gigabits >= 1 && gigabits <= 1000 ? (uint64_t) gigabits : 0;
}

static uint64_t read_number(int root, const char *host, const char *file, uint64_t max)
{
        g_autofree char *path = g_strdup_printf("%s/%s", host, file);
        uint64_t value;

        return ald_sysroot_read_uint64(root, path, &value) >= 0 && value <= max ? value : 0;
}

/* Returns the generation. 3 and 4 have lanes of the same speed and differ by the generation of the router. */
static uint64_t generation_of(uint64_t lane, uint64_t router)
{
        if (lane >= 40)
                return 5;
        if (lane >= 20)
                return router >= 4 ? 4 : 3;
        return router >= 1 && router <= 3 ? router : 3;
}

void ald_thunderbolt_read(int root, const char *host, uint64_t *ret_generation, uint64_t *ret_speed)
{
        uint64_t lane = read_lane(root, host);
        uint64_t lanes = read_number(root, host, "tx_lanes", LANES_MAX);
        uint64_t router = read_number(root, host, "../generation", 16); /* above the host is its router */

        *ret_generation = lane == 0 ? ALD_ABSENT_UINT64 : generation_of(lane, router);
        *ret_speed = lane == 0 || lanes == 0 ? ALD_ABSENT_UINT64 : lane * lanes * BITS_PER_GIGABIT;
}
