/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "probes/common/probe-clock.h"
#include "probes/common/small-files.h"
#include "probes/compute/run/contention.h"

#define USEC_PER_SEC UINT64_C(1000000)
#define FIELDS 8 /* user nice system idle iowait irq softirq steal; guests are within the first two */

#define SHARE_MAX 0.1
/* A few busy tasks on a large machine are a small share of its time, but tasks on their processors always
 * wait. */
#define SHARE_WAITING_MAX 0.03
#define WAITING_MAX 0.2

#define USAGE_MAX 10 /* percent; as ALD_DEVICE_USAGE_MAX_PERCENT of the planner */
#define REST_TURNS 12u
#define REST_TURN_USEC 100000u
#define LOOK_TURNS 3u /* for one look at the processors, whose times are in 1/100 s */

#define LOOK_NSEC (250 * ALD_NSEC_PER_MSEC)
#define JUDGED_USEC_MIN USEC_PER_SEC /* a shorter look at the processors is chance */

unsigned ald_proc_stat_parse(const char *text, const cpu_set_t *set, uint64_t *ret_busy)
{
        uint64_t busy = 0;
        unsigned n = 0;

        for (const char *line = text; line; line = strchr(line, '\n')) {
                unsigned long long t[FIELDS];
                unsigned cpu;

                line += *line == '\n';
                /* The line of all processors has no number after "cpu". */
                if (!g_str_has_prefix(line, "cpu") || !g_ascii_isdigit(line[3]) ||
                        sscanf(line, "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &t[0], &t[1],
                                &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) != FIELDS + 1 ||
                        cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, set))
                        continue;
                busy += t[0] + t[1] + t[2] + t[5] + t[6] + t[7];
                n++;
        }
        if (n > 0)
                *ret_busy = busy;
        return n;
}

static uint64_t own_usec(void)
{
        struct rusage usage = {};

        getrusage(RUSAGE_SELF, &usage);
        return ((uint64_t) usage.ru_utime.tv_sec + (uint64_t) usage.ru_stime.tv_sec) * USEC_PER_SEC +
               (uint64_t) usage.ru_utime.tv_usec + (uint64_t) usage.ru_stime.tv_usec;
}

/* Reads the time of waiting of the machine from a line "some avg10=0.00 avg60=0.00 avg300=0.00
 * total=1234". */
static uint64_t read_waiting(const char *root)
{
        g_autofree char *text = ald_file_text(root, "proc/pressure/cpu");
        const char *total = text && g_str_has_prefix(text, "some ") ? strstr(text, "total=") : NULL;

        return total ? g_ascii_strtoull(total + strlen("total="), NULL, 10) : 0;
}

void ald_processor_times_read(const char *root, AldProcessorTimes *ret)
{
        g_autofree char *text = ald_file_text(root, "proc/stat");
        uint64_t ticks = 0, per_second = (uint64_t) sysconf(_SC_CLK_TCK);
        cpu_set_t set;

        CPU_ZERO(&set);
        (void) sched_getaffinity(0, sizeof set, &set);
        *ret = (AldProcessorTimes){
                .now = ald_now() / 1000,
                .own = own_usec(),
                .waiting = read_waiting(root),
                .n = text ? ald_proc_stat_parse(text, &set, &ticks) : 0,
        };
        ret->busy = ticks * USEC_PER_SEC / per_second;
}

double ald_contention_share(const AldProcessorTimes *before, const AldProcessorTimes *after)
{
        double busy, own, all;

        if (after->n == 0 || after->n != before->n || after->now <= before->now)
                return -1;
        busy = (double) after->busy - (double) before->busy;
        own = (double) after->own - (double) before->own;
        all = (double) (after->now - before->now) * after->n;
        return CLAMP((busy - own) / all, 0, 1);
}

bool ald_contention_is_significant(const AldProcessorTimes *before, const AldProcessorTimes *after)
{
        double share = ald_contention_share(before, after), waiting;

        if (share < 0)
                return false;
        waiting = after->waiting > before->waiting
                          ? (double) (after->waiting - before->waiting) / (double) (after->now - before->now)
                          : 0;
        return share > SHARE_MAX || (share > SHARE_WAITING_MAX && waiting > WAITING_MAX);
}

bool ald_device_in_use(AldClocks *clocks, int own)
{
        unsigned turns = 0;

        while ((ald_clocks_usage(clocks) > USAGE_MAX || ald_clocks_processes(clocks) > own) &&
                ++turns < REST_TURNS)
                g_usleep(REST_TURN_USEC);
        return turns == REST_TURNS;
}

bool ald_processors_in_use(const char *root)
{
        AldProcessorTimes before, after;

        for (unsigned turns = 0; turns < REST_TURNS / LOOK_TURNS; turns++) {
                ald_processor_times_read(root, &before);
                g_usleep(LOOK_TURNS * REST_TURN_USEC);
                ald_processor_times_read(root, &after);
                if (!ald_contention_is_significant(&before, &after))
                        return false;
        }
        return true;
}

void ald_contention_begin(
        AldContention *contention, const char *root, AldClocks *clocks, const AldOpenclTarget *device)
{
        *contention = (AldContention){
                .root = root,
                .clocks = clocks,
                .cpu = device->type == ALD_LISTED_DEVICE_TYPE_CPU,
                /* No other process was there before; drivers may not show this process either. */
                .own = MIN(ald_clocks_processes(clocks), 1),
                .looked = ald_now(),
        };
        ald_processor_times_read(root, &contention->before);
}

static bool processors_are_shared(const AldContention *contention)
{
        AldProcessorTimes now;

        ald_processor_times_read(contention->root, &now);
        return now.now > contention->before.now + JUDGED_USEC_MIN &&
               ald_contention_is_significant(&contention->before, &now);
}

bool ald_contention_check(AldContention *contention)
{
        uint64_t now = ald_now();

        if (now < contention->looked + LOOK_NSEC)
                return contention->seen;
        contention->looked = now;
        if (contention->cpu)
                return processors_are_shared(contention);
        contention->seen = contention->seen ||
                           ald_clocks_processes(contention->clocks) > MAX(contention->own, 0);
        return contention->seen;
}

bool ald_contention_end(AldContention *contention)
{
        AldProcessorTimes now;

        if (!contention->cpu)
                return contention->seen || ald_device_in_use(contention->clocks, MAX(contention->own, 0));
        ald_processor_times_read(contention->root, &now);
        return ald_contention_is_significant(&contention->before, &now);
}
