/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "record/field.h"
#include "services/common/cpu-times.h"
#include "services/common/sysroot.h"
#include "services/link-probe/machine/cpu-load.h"

/* Shorter intervals are not meaningful: the kernel counts in hundredths of a second. */
#define SPAN_MIN_USEC G_USEC_PER_SEC

struct AldCpuLoad {
        int root;
        AldCpuTimes before;
        uint64_t read; /* 0: never */
        double usage;
};

AldCpuLoad *ald_cpu_load_new(int root)
{
        AldCpuLoad *load = g_new0(AldCpuLoad, 1);

        load->root = root;
        load->usage = ALD_ABSENT_DOUBLE;
        return load;
}

void ald_cpu_load_free(AldCpuLoad *load)
{
        g_free(load);
}

double ald_cpu_load_read(AldCpuLoad *load, uint64_t now_usec)
{
        g_autofree char *text = NULL;
        AldCpuTimes times;

        if (load->read != 0 && now_usec < load->read + SPAN_MIN_USEC)
                return load->usage;
        if (ald_sysroot_read(load->root, "proc/stat", &text) < 0 || !ald_cpu_times_parse(text, &times)) {
                load->read = 0;
                return load->usage = ALD_ABSENT_DOUBLE;
        }
        load->usage = load->read == 0 ? ALD_ABSENT_DOUBLE : ald_cpu_usage(&load->before, &times);
        load->before = times;
        load->read = now_usec;
        return load->usage;
}

void ald_cpu_load_restart(AldCpuLoad *load, uint64_t now_usec)
{
        load->read = 0;
        (void) ald_cpu_load_read(load, now_usec);
}
