/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How fast the processor reads memory at best: threads, one pinned to each processor, with its widest loads,
 * from large pages, in whatever of a few ways turns out fastest. What they read is random and their sums are
 * checked. Pieces are handed out one by one, so that a thread that is held up holds up none of the others.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include <glib.h>

#include "tests/bench/native-read-ways.h"

#define PIECE ((size_t) 1 << 20)
#define THREADS_MAX 1024u
#define TRY_SECONDS 0.1
#define ROUNDS 2u

typedef struct Count {
        _Alignas(64) atomic_uint_fast64_t bytes;
} Count;

typedef struct Reading {
        const NativeWay *_Atomic way;
        const char *memory;
        size_t n_pieces;
        uint64_t *sums; /* of the pieces */
        atomic_size_t next;
        atomic_bool stop, wrong;
        unsigned n_threads;
        Count counts[THREADS_MAX];
} Reading;

typedef struct Thread {
        Reading *reading;
        pthread_t id;
        unsigned index, processor;
} Thread;

static double now(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static void *read_pieces(void *pointer)
{
        Thread *thread = pointer;
        Reading *reading = thread->reading;

        while (!reading->stop) {
                size_t piece = reading->next++ % reading->n_pieces;
                const NativeWay *way = reading->way;

                if (way->sum(reading->memory + piece * PIECE, PIECE) != reading->sums[piece])
                        reading->wrong = true;
                reading->counts[thread->index].bytes += PIECE;
        }
        return NULL;
}

/* Written by the processors that read, so that each node has a part of it. */
static void *fill_pieces(void *pointer)
{
        Thread *thread = pointer;
        Reading *reading = thread->reading;
        uint64_t state = 0x9e3779b97f4a7c15u * (thread->index + 1);

        for (size_t piece = thread->index; piece < reading->n_pieces; piece += reading->n_threads) {
                uint64_t *words = (uint64_t *) (reading->memory + piece * PIECE);

                for (size_t i = 0; i < PIECE / sizeof *words; i++) {
                        state = state * 6364136223846793005u + 1442695040888963407u;
                        words[i] = state ^ state >> 29;
                        reading->sums[piece] += words[i];
                }
        }
        return NULL;
}

static void start(Thread *threads, unsigned n, void *(*work)(void *) )
{
        for (unsigned i = 0; i < n; i++) {
                pthread_attr_t attributes;
                cpu_set_t one;

                CPU_ZERO(&one);
                CPU_SET(threads[i].processor, &one);
                pthread_attr_init(&attributes);
                pthread_attr_setaffinity_np(&attributes, sizeof one, &one);
                if (pthread_create(&threads[i].id, &attributes, work, &threads[i]) != 0)
                        g_error("no thread");
                pthread_attr_destroy(&attributes);
        }
}

static void join(Thread *threads, unsigned n)
{
        for (unsigned i = 0; i < n; i++)
                pthread_join(threads[i].id, NULL);
}

static uint64_t bytes_read(Reading *reading)
{
        uint64_t sum = 0;

        for (unsigned i = 0; i < reading->n_threads; i++)
                sum += reading->counts[i].bytes;
        return sum;
}

/* One window, in bytes a second. */
static double watch(Reading *reading, double seconds)
{
        struct timespec pause = { 0, (long) (seconds * 1e9) };
        double start = now();
        uint64_t before = bytes_read(reading);

        nanosleep(&pause, NULL);
        return (double) (bytes_read(reading) - before) / (now() - start);
}

/* In turns, as the probe chooses. */
static const NativeWay *choose(Reading *reading)
{
        const NativeWay *best = NULL;
        double most = 0;

        for (unsigned round = 0; round < ROUNDS; round++)
                for (const NativeWay *way = native_ways; way->name; way++) {
                        double rate;

                        if (!way->can())
                                continue;
                        reading->way = way;
                        rate = watch(reading, TRY_SECONDS / ROUNDS);
                        if (rate > most) {
                                most = rate;
                                best = way;
                        }
                }
        return best;
}

static int compare(const void *a, const void *b)
{
        double x = *(const double *) a, y = *(const double *) b;

        return (x > y) - (x < y);
}

static void measure(Reading *reading, double seconds, double window)
{
        g_autoptr(GArray) rates = g_array_new(FALSE, FALSE, sizeof(double));
        double end;

        reading->way = choose(reading);
        end = now() + seconds;
        while (now() < end || rates->len < 3) {
                double rate = watch(reading, window) / 1e9;

                g_array_append_val(rates, rate);
        }
        qsort(rates->data, rates->len, sizeof(double), compare);
        printf("{\"read_gbps\": %.3f, \"median_gbps\": %.3f, \"threads\": %u, \"method\": \"%s\"}\n",
                g_array_index(rates, double, rates->len - 1), g_array_index(rates, double, rates->len / 2),
                reading->n_threads, reading->way->name);
}

static unsigned find_processors(Thread *threads, Reading *reading)
{
        cpu_set_t set;
        unsigned n = 0;

        if (sched_getaffinity(0, sizeof set, &set) < 0)
                g_error("no processors");
        for (unsigned cpu = 0; cpu < CPU_SETSIZE && n < THREADS_MAX; cpu++)
                if (CPU_ISSET(cpu, &set)) {
                        threads[n] = (Thread){ .reading = reading, .index = n, .processor = cpu };
                        n++;
                }
        return n;
}

static char *take_memory(size_t bytes)
{
        char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (memory == MAP_FAILED)
                g_error("no memory");
        (void) madvise(memory, bytes, MADV_HUGEPAGE);
        return memory;
}

int main(int argc, char *argv[])
{
        static Reading reading;
        static Thread threads[THREADS_MAX];
        gint mib = 1024;
        double seconds = 1, window = 0.05;
        const GOptionEntry entries[] = {
                { "mib", 0, 0, G_OPTION_ARG_INT, &mib, "what is read (1024)", "N" },
                { "seconds", 0, 0, G_OPTION_ARG_DOUBLE, &seconds, "how long (1)", "N" },
                { "window", 0, 0, G_OPTION_ARG_DOUBLE, &window, "the best of such windows, s (0.05)", "N" },
                { NULL },
        };
        g_autoptr(GOptionContext) context = g_option_context_new("- reads memory, and says how fast");
        g_autoptr(GError) error = NULL;

        g_option_context_add_main_entries(context, entries, NULL);
        if (!g_option_context_parse(context, &argc, &argv, &error) || mib < 1 || window >= 1)
                g_error("%s", error ? error->message : "mib is at least 1, window below 1");
        reading.n_threads = find_processors(threads, &reading);
        reading.n_pieces = (size_t) mib * (1 << 20) / PIECE;
        reading.sums = g_new0(uint64_t, reading.n_pieces);
        reading.memory = take_memory(reading.n_pieces * PIECE);
        reading.way = native_ways;
        start(threads, reading.n_threads, fill_pieces);
        join(threads, reading.n_threads);
        start(threads, reading.n_threads, read_pieces);
        measure(&reading, seconds, window);
        reading.stop = true;
        join(threads, reading.n_threads);
        if (reading.wrong)
                g_error("what was read does not add up");
        g_free(reading.sums);
        return 0;
}
