/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "clients/alidadectl/check/requirement.h"
#include "clients/common/format.h"
#include "clients/common/node-summary.h"
#include "clients/common/quantity.h"
#include "state/link.h"

#define RESENT_USEC 120e6           /* each record is sent again every 30 s */
#define MEASURED_USEC (24 * 3600e6) /* figures of probes */

/* What is known, and since when. */
typedef struct Figure {
        double value, since_usec; /* NAN if unknown */
} Figure;

static double updated(const AldEntity *node, AldKind kind)
{
        const AldRecord *record = ald_entity_record(node, kind);

        return record ? (double) record->updated_usec : NAN;
}

static Figure memory(AldModel *model, const AldEntity *node, double oldest_usec)
{
        const AldMemory *record = ald_entity_as(node, MEMORY, AldMemory);

        return (Figure){ record ? ald_figure(record->total_bytes) : NAN, updated(node, ALD_KIND_MEMORY) };
}

static Figure available(AldModel *model, const AldEntity *node, double oldest_usec)
{
        const AldMemory *record = ald_entity_as(node, MEMORY, AldMemory);

        return (Figure){ record ? ald_figure(record->available_bytes) : NAN, updated(node, ALD_KIND_MEMORY) };
}

static Figure gpus(AldModel *model, const AldEntity *node, double oldest_usec)
{
        AldGpuSummary summary = ald_gpu_summary(node);

        return (Figure){ summary.known ? summary.n : NAN, updated(node, ALD_KIND_BACKENDS) };
}

/* Of GPUs and accelerators; unknown if that of one is. */
static Figure device_memory(AldModel *model, const AldEntity *node, double oldest_usec)
{
        const AldBackends *backends = ald_entity_as(node, BACKENDS, AldBackends);
        double sum = backends ? 0 : NAN;

        for (size_t i = 0; backends && i < backends->devices.n; i++) {
                const AldBackend *device = ald_rows_at(&backends->devices, i);

                if (g_strcmp0(device->class, "cpu") != 0 && device->unified != 1 && !device->parent)
                        sum += ald_figure(device->memory_total_bytes);
        }
        return (Figure){ sum, updated(node, ALD_KIND_BACKENDS) };
}

static Figure rdma(AldModel *model, const AldEntity *node, double oldest_usec)
{
        const AldFabric *fabric = ald_entity_as(node, FABRIC, AldFabric);
        double n = fabric ? 0 : NAN;

        for (size_t i = 0; fabric && i < fabric->rdma_ports.n; i++) {
                const AldRdmaPort *port = ald_rows_at(&fabric->rdma_ports, i);

                n += g_strcmp0(port->state, "active") == 0 && !port->problem;
        }
        return (Figure){ n, updated(node, ALD_KIND_FABRIC) };
}

/* The sum counts if none of its devices was measured too long ago. */
static Figure compute(AldModel *model, const AldEntity *node, double oldest_usec)
{
        const AldCompute *record = ald_entity_as(node, COMPUTE, AldCompute);
        Figure figure = { ald_node_figures(node).tflops, NAN };

        for (size_t i = 0; record && i < record->devices.n; i++) {
                const AldComputeDevice *device = ald_rows_at(&record->devices, i);

                if (isfinite(device->tflops_fp16))
                        figure.since_usec = fmin(figure.since_usec, ald_figure(device->measured_usec));
        }
        return figure;
}

static void note_peer(GHashTable *peers, const AldLink *link, const char *own, Figure *figure)
{
        char source[ALD_ID_STRING_SIZE], sink[ALD_ID_STRING_SIZE];
        bool is_source;

        ald_id_format(&link->source, source);
        ald_id_format(&link->sink, sink);
        is_source = strcmp(source, own) == 0;
        if (!is_source && strcmp(sink, own) != 0)
                return;
        (void) g_hash_table_add(peers, g_strdup(is_source ? sink : source));
        figure->since_usec = fmin(figure->since_usec, ald_figure(link->measured_usec));
}

/* Nodes to or from which a link was measured lately, and did not fail since. */
static Figure links(AldModel *model, const AldEntity *node, double oldest_usec)
{
        g_autoptr(GHashTable) peers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        const GPtrArray *all = ald_model_shown_links(model);
        Figure figure = { NAN, NAN };

        for (guint i = 0; i < all->len; i++)
                for (AldKind kind = 0; kind < ALD_N_KINDS; kind++) {
                        const AldRecord *record = ald_entity_record(all->pdata[i], kind);
                        AldLink link;

                        if (!record)
                                continue;
                        link = ald_link_of_record(record);
                        if (ald_link_reaches_sink(&link) && ald_figure(link.measured_usec) >= oldest_usec)
                                note_peer(peers, &link, node->id, &figure);
                }
        figure.value = g_hash_table_size(peers);
        return figure;
}

typedef struct Kind {
        const char *name;
        Figure (*find)(AldModel *model, const AldEntity *node, double oldest_usec);
        char *(*format)(double value);
        bool is_bytes, needs_figure;
        double most_usec; /* age; of links each for itself */
} Kind;

static const Kind kinds[] = {
        { "memory", memory, ald_format_bytes, true, true, RESENT_USEC },
        { "available", available, ald_format_bytes, true, true, RESENT_USEC },
        { "device-memory", device_memory, ald_format_bytes, true, true, RESENT_USEC },
        { "compute", compute, ald_format_tflops, false, false, MEASURED_USEC },
        { "gpus", gpus, ald_format_count, false, false, RESENT_USEC },
        { "rdma", rdma, ald_format_count, false, false, RESENT_USEC },
        { "links", links, ald_format_count, false, false, MEASURED_USEC },
};

void ald_requirement_free(gpointer data)
{
        AldRequirement *requirement = data;

        g_free(requirement->text);
        g_free(requirement);
}

static int read_figure(const char *text, bool is_bytes, double *ret)
{
        uint64_t bytes;
        char *end;
        double value;
        int r = is_bytes ? ald_size_parse(text, &bytes) : 0;

        if (r < 0)
                return r;
        value = is_bytes ? ald_figure(bytes) : g_ascii_strtod(text, &end);
        if (!is_bytes && (end == text || *end || !isfinite(value) || value < 0))
                return -EINVAL;
        *ret = value;
        return 0;
}

/* The figure of a requirement, with the ">=" before it; "" if there is none. */
static int parse_figure(
        const Kind *kind, const char *word, const char *figure, double *ret_least, char **ret_reason)
{
        g_autofree char *problem = NULL;
        int r = -EINVAL;

        if (!*figure && !kind->needs_figure)
                return 0;
        if (g_str_has_prefix(figure, ">="))
                r = read_figure(figure + 2, kind->is_bytes, ret_least);
        if (r >= 0)
                return 0;
        problem = ald_size_problem(figure + MIN(strlen(figure), 2), r);
        *ret_reason = r == -EINVAL ? g_strdup_printf("\"%s\" is not a requirement; write %s>=%s", word,
                                             kind->name, kind->is_bytes ? "64GiB" : "2")
                                   : g_strdup_printf("%s: the size is %s", word, problem);
        return r;
}

static int parse_one(const char *word, GPtrArray *requirements, char **ret_reason)
{
        size_t length = strcspn(word, ">=");
        const char *figure = word + length;
        AldRequirement requirement = { .least = NAN };
        int r;

        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
                if (strlen(kinds[i].name) != length || strncmp(kinds[i].name, word, length) != 0)
                        continue;
                requirement.what = (unsigned) i;
                r = parse_figure(&kinds[i], word, figure, &requirement.least, ret_reason);
                if (r < 0)
                        return r;
                requirement.text = g_strdup(word);
                g_ptr_array_add(requirements, g_memdup2(&requirement, sizeof requirement));
                return 0;
        }
        *ret_reason = g_strdup_printf("Unknown requirement \"%s\"; see alidadectl check --help", word);
        return -EINVAL;
}

int ald_requirements_parse(const char *list, GPtrArray *requirements, char **ret_reason)
{
        g_auto(GStrv) words = g_strsplit(list, ",", -1);

        if (!words[0]) {
                *ret_reason = g_strdup("--require needs a requirement; see alidadectl check --help");
                return -EINVAL;
        }
        for (size_t i = 0; words[i]; i++) {
                int r = parse_one(words[i], requirements, ret_reason);
                if (r < 0)
                        return r;
        }
        return 0;
}

char *ald_requirement_judge(
        const AldRequirement *requirement, AldModel *model, const AldEntity *node, double now_usec)
{
        const Kind *kind = &kinds[requirement->what];
        g_autofree char *value = NULL, *age = NULL;
        double now = node ? ald_node_now(node, now_usec) : now_usec;
        Figure figure = { NAN, NAN };
        bool enough;

        if (node)
                figure = kind->find(model, node, now - kind->most_usec);
        if (isnan(figure.value))
                return g_strdup("unknown");
        enough = isnan(requirement->least) ? figure.value > 0 : figure.value >= requirement->least;
        value = kind->format(figure.value);
        /* What is not there has no time at which it was measured. */
        if (isnan(figure.since_usec))
                return enough || figure.value > 0 ? g_strdup_printf("%s, of unknown age", value)
                                                  : g_strdup(value);
        age = ald_format_age(figure.since_usec, now);
        if (now - figure.since_usec > kind->most_usec)
                return g_strdup_printf("%s, but too old: %s", value, age);
        return enough ? NULL : g_strdup_printf("%s, %s", value, age);
}
