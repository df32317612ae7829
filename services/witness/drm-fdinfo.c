/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "record/field.h"
#include "services/common/pci-address.h"
#include "services/witness/drm-fdinfo.h"

/* The greatest size that a message may contain. More is no memory of a device. */
#define BYTES_MAX (UINT64_C(1) << 50)

/* The ways in which drivers count memory, the best one first. What amdgpu calls drm-memory is resident. */
typedef enum Counted { RESIDENT, MEMORY, TOTAL, N_COUNTED } Counted;

typedef struct Parsed {
        AldFdinfo info;
        uint64_t memory[N_COUNTED];
} Parsed;

/* Returns the rest of the key after a prefix; NULL if it has another one, or nothing is left. */
static const char *after_prefix(const char *key, const char *prefix)
{
        size_t length = strlen(prefix);

        return strncmp(key, prefix, length) == 0 && key[length] != '\0' ? key + length : NULL;
}

static uint64_t parse_number(const char *value)
{
        uint64_t number = g_ascii_isdigit(*value) ? g_ascii_strtoull(value, NULL, 10) : ALD_ABSENT_UINT64;

        return number > ALD_INTEGER_MAX ? ALD_ABSENT_UINT64 : number;
}

/* Parses "17", "17 KiB" or "17 MiB" as bytes. */
static uint64_t parse_bytes(const char *value)
{
        uint64_t number = parse_number(value);
        const char *unit = value + strspn(value, "0123456789");
        unsigned shift = 0;

        unit += strspn(unit, " \t");
        if (g_str_equal(unit, "KiB"))
                shift = 10;
        else if (g_str_equal(unit, "MiB"))
                shift = 20;
        else if (*unit != '\0')
                return ALD_ABSENT_UINT64;
        return number > BYTES_MAX >> shift ? ALD_ABSENT_UINT64 : number << shift;
}

static AldFdinfoEngine *engine_of(AldFdinfo *info, const char *name)
{
        AldFdinfoEngine *engine;

        for (unsigned i = 0; i < info->n_engines; i++)
                if (g_str_equal(info->engines[i].name, name))
                        return &info->engines[i];
        if (info->n_engines == ALD_FDINFO_ENGINES_MAX || strlen(name) >= sizeof engine->name)
                return NULL;
        engine = &info->engines[info->n_engines++];
        *engine = (AldFdinfoEngine){ .busy = ALD_ABSENT_UINT64, .total = ALD_ABSENT_UINT64, .capacity = 1 };
        g_strlcpy(engine->name, name, sizeof engine->name);
        return engine;
}

/* A driver that says both, cycles and ns, says ns first, and has no total of its cycles. */
static bool parse_engine(AldFdinfo *info, const char *key, const char *value)
{
        const char *capacity = after_prefix(key, "drm-engine-capacity-");
        const char *total = after_prefix(key, "drm-total-cycles-");
        const char *cycles = after_prefix(key, "drm-cycles-");
        const char *name = capacity ?: total ?: cycles ?: after_prefix(key, "drm-engine-");
        uint64_t number = parse_number(value);
        AldFdinfoEngine *engine;

        if (!name)
                return false;
        engine = number == ALD_ABSENT_UINT64 ? NULL : engine_of(info, name);
        if (!engine)
                return true;
        if (capacity)
                engine->capacity = MAX(number, 1);
        else if (total)
                engine->total = number;
        else if (!cycles || engine->busy == ALD_ABSENT_UINT64)
                engine->busy = number;
        return true;
}

/* Adds up the regions on the device; all others are memory of the host. */
static void parse_memory(Parsed *parsed, const char *key, const char *value)
{
        static const char *const prefixes[] = {
                [RESIDENT] = "drm-resident-",
                [MEMORY] = "drm-memory-",
                [TOTAL] = "drm-total-",
        };
        uint64_t bytes = parse_bytes(value);

        for (Counted i = 0; i < N_COUNTED; i++) {
                const char *region = after_prefix(key, prefixes[i]);
                uint64_t before = parsed->memory[i] == ALD_ABSENT_UINT64 ? 0 : parsed->memory[i];

                if (region && bytes != ALD_ABSENT_UINT64 && before + bytes <= BYTES_MAX &&
                        (g_str_has_prefix(region, "vram") || g_str_has_prefix(region, "local")))
                        parsed->memory[i] = before + bytes;
        }
}

static void parse_line(Parsed *parsed, const char *key, const char *value)
{
        if (g_str_equal(key, "drm-driver"))
                g_strlcpy(parsed->info.driver, value, sizeof parsed->info.driver);
        else if (g_str_equal(key, "drm-pdev") && ald_gpu_is_pci_address(value))
                g_strlcpy(parsed->info.device, value, sizeof parsed->info.device);
        else if (g_str_equal(key, "drm-client-id"))
                parsed->info.client = parse_number(value);
        else if (!parse_engine(&parsed->info, key, value))
                parse_memory(parsed, key, value);
}

/* Engines for computing: of i915 and amdgpu, of xe, or of the NPUs. */
static bool is_for_computing(const char *engine)
{
        return g_str_equal(engine, "compute") || g_str_equal(engine, "ccs") ||
               g_str_has_prefix(engine, "npu");
}

/* Drops engines without a time, and notes what those for computing say. */
static void judge_engines(AldFdinfo *info)
{
        unsigned n = 0;

        /* Its driver omits engines that have not been used. */
        info->has_compute = g_str_equal(info->driver, "amdgpu");
        for (unsigned i = 0; i < info->n_engines; i++) {
                const AldFdinfoEngine *engine = &info->engines[i];

                if (engine->busy == ALD_ABSENT_UINT64)
                        continue;
                if (is_for_computing(engine->name)) {
                        info->has_compute = true;
                        info->computed |= engine->busy > 0;
                }
                info->engines[n++] = *engine;
        }
        info->n_engines = n;
}

/* Returns whether a line precedes what a driver says: one of any descriptor, or the first of amdgpu before
 * Linux 6.5. None of these has a text of anybody. */
static bool precedes_driver(const char *line)
{
        static const char *const keys[] = { "pos:", "flags:", "mnt_id:", "ino:", "lock:", "pasid:" };

        for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
                if (g_str_has_prefix(line, keys[i]))
                        return true;
        return false;
}

bool ald_fdinfo_parse(const char *text, AldFdinfo *ret)
{
        Parsed parsed = { .info = { .client = ALD_ABSENT_UINT64, .memory_bytes = ALD_ABSENT_UINT64 },
                .memory = { ALD_ABSENT_UINT64, ALD_ABSENT_UINT64, ALD_ABSENT_UINT64 } };
        g_auto(GStrv) lines = NULL;
        char **line;

        if (!strstr(text, "drm-driver:"))
                return false;
        line = lines = g_strsplit(text, "\n", -1);
        while (*line && precedes_driver(*line))
                line++;
        if (!*line || !g_str_has_prefix(*line, "drm-driver:"))
                return false;
        for (; *line; line++) {
                char *colon = strchr(*line, ':');

                if (!colon || !g_str_has_prefix(*line, "drm-"))
                        continue;
                *colon = '\0';
                parse_line(&parsed, *line, g_strstrip(colon + 1));
        }
        if (*parsed.info.driver == '\0')
                return false;
        if (*parsed.info.device == '\0')
                g_strlcpy(parsed.info.device, parsed.info.driver, sizeof parsed.info.device);
        for (Counted i = N_COUNTED; i-- > 0;)
                if (parsed.memory[i] != ALD_ABSENT_UINT64)
                        parsed.info.memory_bytes = parsed.memory[i];
        judge_engines(&parsed.info);
        *ret = parsed.info;
        return true;
}

void ald_fdinfo_clear_work(AldFdinfo *info)
{
        if (info->memory_bytes != ALD_ABSENT_UINT64)
                info->memory_bytes = 0;
        info->computed = false;
        for (unsigned i = 0; i < info->n_engines; i++)
                info->engines[i].busy = 0;
}

void ald_fdinfo_add(AldFdinfo *sum, const AldFdinfo *client)
{
        if (client->memory_bytes != ALD_ABSENT_UINT64)
                sum->memory_bytes = MIN(
                        BYTES_MAX, client->memory_bytes +
                                           (sum->memory_bytes == ALD_ABSENT_UINT64 ? 0 : sum->memory_bytes));
        sum->has_compute |= client->has_compute;
        sum->computed |= client->computed;
        for (unsigned i = 0; i < client->n_engines; i++) {
                const AldFdinfoEngine *engine = &client->engines[i];
                AldFdinfoEngine *whole = engine_of(sum, engine->name);

                if (!whole)
                        continue;
                whole->busy = engine->busy + (whole->busy == ALD_ABSENT_UINT64 ? 0 : whole->busy);
                whole->capacity = MAX(whole->capacity, engine->capacity);
                if (whole->total == ALD_ABSENT_UINT64 ||
                        (engine->total != ALD_ABSENT_UINT64 && engine->total > whole->total))
                        whole->total = engine->total;
        }
}

/* Its driver omits engines that have not been used, so the earlier time of one in ns may be 0. A client that
 * was closed meanwhile takes its time with it. */
static double engine_usage(const AldFdinfo *before, const AldFdinfoEngine *engine, uint64_t passed_ns)
{
        AldFdinfoEngine earlier = { .total = ALD_ABSENT_UINT64 };
        uint64_t possible = passed_ns;

        for (unsigned i = 0; i < before->n_engines; i++)
                if (g_str_equal(before->engines[i].name, engine->name))
                        earlier = before->engines[i];
        if (engine->total != ALD_ABSENT_UINT64)
                possible = earlier.total != ALD_ABSENT_UINT64 && engine->total > earlier.total
                                   ? engine->total - earlier.total
                                   : 0;
        if (possible == 0 || engine->busy < earlier.busy)
                return ALD_ABSENT_DOUBLE;
        return MIN(100, 100.0 * (double) (engine->busy - earlier.busy) / (double) possible /
                                (double) engine->capacity);
}

double ald_fdinfo_usage(const AldFdinfo *before, const AldFdinfo *now, uint64_t passed_ns)
{
        double busiest = ALD_ABSENT_DOUBLE;

        for (unsigned i = 0; i < now->n_engines; i++) {
                double usage = engine_usage(before, &now->engines[i], passed_ns);

                if (isnan(busiest) || usage > busiest)
                        busiest = usage;
        }
        return busiest;
}
