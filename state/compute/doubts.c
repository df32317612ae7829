/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/compute/doubts.h"

#define GIB (UINT64_C(1024) * 1024 * 1024)

/* Devices that are alike, and the best figures of two nodes: whichever node is judged, one of the two is
 * another node. */
typedef struct Equals {
        const AldNode *last; /* the node that was added last */
        guint n_nodes;
        struct {
                const AldNode *node;
                double value; /* 0 if there is none */
        } best, second;
} Equals;

/* A figure of a device, and what it is compared with. */
typedef struct RateClaim {
        const AldNode *node;
        const AldBackend *backend; /* or NULL */
        const AldComputeDevice *row;
        AldDoubtField field;
        double value;
        const char *precision, *method; /* of a product, else NULL */
        Equals *alike, *equal; /* of the same kind; also of the same power limit and method; or NULL */
        bool is_example;       /* it counts among these */
        AldDoubtReason reason; /* why the limit of the device itself is exceeded, if `limit` is known */
        double limit;          /* NAN if that is not exceeded */
} RateClaim;

/* All claims in the order of the nodes, and the groups in which they are compared. */
typedef struct Comparison {
        GArray *claims;
        GHashTable *groups; /* hash of what is alike → Equals */
} Comparison;

static bool has_flag(const char *const *flags, const char *flag)
{
        return flags && g_strv_contains(flags, flag);
}

/* Returns whether the clocks were held down. A power cap does not count, although the probe lists it as a
 * reason, since equal devices share it. */
static bool is_held_down(const AldComputeDevice *row)
{
        for (const char *const *reason = row->throttle_reasons; reason && *reason; reason++)
                if (!g_str_equal(*reason, "power"))
                        return true;
        return false;
}

static bool is_processor(const AldBackend *backend)
{
        return g_strcmp0(backend->class, ald_backend_class_to_string(ALD_BACKEND_CLASS_CPU)) == 0;
}

static bool uses_wgmma(const char *method)
{
        return method && g_str_has_suffix(method, "wgmma");
}

/* Returns the factor by which a product may exceed the peak of the same row; INFINITY if they cannot be
 * compared. The matrix units of Hopper are faster by their own instructions than by those of its
 * predecessors. A peak that failed later is kept from an earlier measurement. The clocks of processors follow
 * the load. */
static double allowance_of_peak(const RateClaim *claim)
{
        const AldComputeDevice *row = claim->row;
        bool other_units = uses_wgmma(row->method) && !uses_wgmma(row->peak_method);
        bool other_conditions = row->failure || is_held_down(row) || has_flag(row->flags, "busy") ||
                                has_flag(row->flags, "unstable") || !claim->backend ||
                                is_processor(claim->backend);

        if (g_strcmp0(claim->precision, row->peak_precision) != 0 ||
                (row->accumulator && row->peak_accumulator &&
                        !g_str_equal(row->accumulator, row->peak_accumulator)))
                return INFINITY;
        return ALD_DOUBT_LIMIT * (other_units ? ALD_DOUBT_UNITS : 1) *
               (other_conditions ? ALD_DOUBT_CONDITIONS : 1);
}

/* Compares a claim with the limit of the device itself. */
static void judge_by_own_limit(RateClaim *claim)
{
        uint64_t theoretical = claim->row->memory_bandwidth_theoretical_bytes_per_second;
        double limit = ALD_ABSENT_DOUBLE, allowance = ALD_DOUBT_LIMIT;

        if (claim->field == ALD_DOUBT_FIELD_GEMMTFLOPS) {
                claim->reason = ALD_DOUBT_REASON_ABOVE_PEAK;
                limit = claim->row->peak_tflops;
                allowance = allowance_of_peak(claim);
        } else {
                claim->reason = ALD_DOUBT_REASON_ABOVE_THEORETICAL;
                if (theoretical <= (uint64_t) ALD_INTEGER_MAX)
                        limit = (double) theoretical;
        }
        claim->limit = isfinite(limit) && limit > 0 && claim->value > allowance * limit ? limit
                                                                                        : ALD_ABSENT_DOUBLE;
}

/* Recognizes a virtual GPU by the profile in its name, such as "GRID T4-16Q" or "NVIDIA A40-48C": GiB of
 * memory, and one of four kinds of use. */
static bool is_virtual(const char *name)
{
        const char *profile = strrchr(name, '-');
        const char *use = profile ? profile + 1 + strspn(profile + 1, "0123456789") : NULL;

        return g_str_has_prefix(name, "GRID ") || g_str_has_prefix(name, "NVIDIA GRID ") ||
               (use && use > profile + 1 && use[0] != '\0' && strchr("ABCQ", use[0]) && use[1] == '\0');
}

static bool is_comparable(const AldBackend *backend)
{
        return backend && backend->class && !is_processor(backend) && backend->unified != 1 &&
               backend->name && !is_virtual(backend->name) && backend->driver && backend->driver_version &&
               backend->memory_total_bytes <= (uint64_t) ALD_INTEGER_MAX;
}

static Equals *find_group(Comparison *comparison, uint64_t hash)
{
        Equals *equals = g_hash_table_lookup(comparison->groups, &hash);

        if (!equals) {
                equals = g_new0(Equals, 1);
                g_hash_table_insert(comparison->groups, g_memdup2(&hash, sizeof hash), equals);
        }
        return equals;
}

/* Finds the groups of a claim. Memory counts in whole GiB, since the part that a driver reserves varies by a
 * few MiB. */
static void find_groups(Comparison *comparison, RateClaim *claim)
{
        const AldBackend *backend = claim->backend;
        uint64_t gibibytes = (backend->memory_total_bytes + GIB / 2) / GIB, hash = ALD_HASH_BASIS;

        hash = ald_hash_bytes(hash, &claim->field, sizeof claim->field);
        hash = ald_hash_text(hash, backend->name);
        hash = ald_hash_bytes(hash, &gibibytes, sizeof gibibytes);
        hash = ald_hash_text(hash, backend->driver);
        hash = ald_hash_text(hash, backend->driver_version);
        hash = ald_hash_text(hash, backend->open_cl_platform);
        if (claim->precision) {
                hash = ald_hash_text(hash, claim->precision);
                hash = ald_hash_text(hash, claim->row->accumulator);
        }
        claim->alike = find_group(comparison, hash);
        hash = ald_hash_bytes(hash, &claim->row->power_limit_micro_watts, sizeof(uint64_t));
        hash = ald_hash_text(hash, claim->method);
        claim->equal = find_group(comparison, hash);
}

/* Adds an example. All claims of a node are added one after the other. */
static void add_example(Equals *equals, const RateClaim *claim)
{
        if (equals->last != claim->node)
                equals->n_nodes++;
        equals->last = claim->node;
        if (equals->best.node == claim->node) {
                equals->best.value = fmax(equals->best.value, claim->value);
        } else if (claim->value > equals->best.value) {
                equals->second = equals->best;
                equals->best.node = claim->node;
                equals->best.value = claim->value;
        } else if (claim->value > equals->second.value) {
                equals->second.node = claim->node;
                equals->second.value = claim->value;
        }
}

/* Adds a claim. It is an example of what others can do only if its node counts and nothing casts doubt on the
 * figure. */
static void add_claim(Comparison *comparison, RateClaim *claim)
{
        judge_by_own_limit(claim);
        if (is_comparable(claim->backend)) {
                find_groups(comparison, claim);
                claim->is_example = isnan(claim->limit) && ald_node_counts(claim->node) &&
                                    (!claim->row->flags || !claim->row->flags[0]) &&
                                    !is_held_down(claim->row);
        }
        if (claim->is_example) {
                add_example(claim->alike, claim);
                add_example(claim->equal, claim);
        }
        g_array_append_val(comparison->claims, *claim);
}

/* Adds the claim about the product, which includes TflopsFp16: totals and plans prefer that field, whatever
 * the other one says. */
static void add_product(Comparison *comparison, RateClaim claim)
{
        const AldComputeDevice *row = claim.row;
        const char *fp16 = ald_compute_device_precision_to_string(ALD_COMPUTE_DEVICE_PRECISION_FP16);
        bool has_fp16 = isfinite(row->tflops_fp16);

        claim.field = ALD_DOUBT_FIELD_GEMMTFLOPS;
        claim.precision = has_fp16 ? fp16 : row->precision;
        claim.method = row->method;
        claim.value = has_fp16 ? row->tflops_fp16 : row->gemm_tflops;
        if (has_fp16 && isfinite(row->gemm_tflops) && g_strcmp0(row->precision, fp16) == 0)
                claim.value = fmax(claim.value, row->gemm_tflops);
        if (isfinite(claim.value) && claim.value > 0 && claim.precision)
                add_claim(comparison, &claim);
}

static void add_bandwidth(Comparison *comparison, RateClaim claim)
{
        claim.field = ALD_DOUBT_FIELD_MEMORYBANDWIDTHBYTESPERSECOND;
        claim.value = (double) claim.row->memory_bandwidth_bytes_per_second;
        if (claim.value > 0 && claim.row->memory_bandwidth_bytes_per_second <= (uint64_t) ALD_INTEGER_MAX)
                add_claim(comparison, &claim);
}

static gboolean add_claims_of_node(AldNode *node, void *userdata)
{
        const AldBackends *backends = ald_node_as(node, BACKENDS, AldBackends);
        const AldCompute *compute = ald_node_as(node, COMPUTE, AldCompute);

        for (size_t i = 0; compute && i < compute->devices.n; i++) {
                const AldComputeDevice *row = ald_rows_at(&compute->devices, i);
                const RateClaim claim = { .node = node,
                        .row = row,
                        .backend = backends ? ald_rows_find(&backends->devices, row->id) : NULL };

                add_product(userdata, claim);
                add_bandwidth(userdata, claim);
        }
        return FALSE;
}

/* The claims of one node. */
typedef struct NodeClaims {
        const RateClaim *items;
        size_t n;
} NodeClaims;

static bool has_example(const NodeClaims *claims, const Equals *equals)
{
        for (size_t i = 0; i < claims->n; i++)
                if (claims->items[i].is_example &&
                        (claims->items[i].alike == equals || claims->items[i].equal == equals))
                        return true;
        return false;
}

static void set_figures(AldDoubt *doubt, const RateClaim *claim, double limit)
{
        if (claim->field == ALD_DOUBT_FIELD_GEMMTFLOPS) {
                doubt->tflops = claim->value;
                doubt->limit_tflops = limit;
        } else {
                doubt->bytes_per_second = (uint64_t) claim->value;
                doubt->limit_bytes_per_second = (uint64_t) limit;
        }
}

/* Returns whether a claim exceeds what equal devices deliver on at least `least` other nodes, and then
 * describes the doubt. */
static bool exceeds_equals(const NodeClaims *own, const RateClaim *claim, const Equals *equals, guint least,
        AldDoubt *doubt, char peer[static ALD_ID_STRING_SIZE])
{
        bool is_own_best = equals && equals->best.node == claim->node;
        guint n_others = equals ? equals->n_nodes - has_example(own, equals) : 0;
        double limit = !equals ? 0 : is_own_best ? equals->second.value : equals->best.value;

        if (n_others < least || claim->value <= ALD_DOUBT_EQUALS * limit)
                return false;
        doubt->reason = ald_doubt_reason_to_string(ALD_DOUBT_REASON_ABOVE_EQUAL_DEVICES);
        doubt->left_out = least >= ALD_DOUBT_EQUALS_LEAST;
        doubt->equal_nodes = n_others;
        doubt->peer = ald_id_format(is_own_best ? &equals->second.node->id : &equals->best.node->id, peer);
        set_figures(doubt, claim, limit);
        return true;
}

/* A row, and the strings that it points to. */
typedef struct DoubtSpace {
        char *id;
        char peer[ALD_ID_STRING_SIZE];
} DoubtSpace;

static bool judge_claim(const NodeClaims *own, const RateClaim *claim, DoubtSpace *space, AldDoubt *ret)
{
        *ret = (AldDoubt) ALD_DOUBT_INIT;
        ret->device = claim->row->id;
        ret->field = ald_doubt_field_to_string(claim->field);
        if (!isnan(claim->limit)) {
                ret->reason = ald_doubt_reason_to_string(claim->reason);
                ret->left_out = true;
                set_figures(ret, claim, claim->limit);
        } else if (!exceeds_equals(own, claim, claim->equal, ALD_DOUBT_EQUALS_LEAST, ret, space->peer) &&
                   !exceeds_equals(own, claim, claim->alike, 1, ret, space->peer)) {
                return false;
        }
        ret->id = space->id = g_strdup_printf("%s %s", ret->device, ret->field);
        return true;
}

/* Returns a record of all doubts about a node; NULL if there are none, or too many for a record. */
static AldRecord *judge_node(const NodeClaims *own)
{
        g_autofree DoubtSpace *spaces = g_new0(DoubtSpace, own->n);
        g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(AldDoubt));
        AldDoubts doubts = ALD_DOUBTS_INIT;
        AldRecord *record = NULL;
        AldDoubt row;

        for (size_t i = 0; i < own->n; i++)
                if (judge_claim(own, &own->items[i], &spaces[i], &row))
                        g_array_append_val(rows, row);
        doubts.figures.items = rows->data;
        doubts.figures.n = rows->len;
        if (rows->len > 0 && ald_record_new(ALD_KIND_DOUBTS, &doubts, &record) < 0)
                record = NULL;
        for (size_t i = 0; i < own->n; i++)
                g_free(spaces[i].id);
        return record;
}

typedef struct DoubtRound {
        const GArray *claims;
        guint next; /* index of the first claim of a node that was not judged yet */
        AldDoubtsFunc func;
        void *userdata;
} DoubtRound;

static gboolean judge_next(AldNode *node, void *userdata)
{
        DoubtRound *round = userdata;
        NodeClaims own = {};
        g_autoptr(AldRecord) record = NULL;

        if (round->next < round->claims->len)
                own.items = &g_array_index(round->claims, RateClaim, round->next);
        while (round->next + own.n < round->claims->len && own.items[own.n].node == node)
                own.n++;
        round->next += (guint) own.n;
        record = own.n > 0 ? judge_node(&own) : NULL;
        round->func(node, record, round->userdata);
        return FALSE;
}

void ald_doubts_judge(AldStore *store, AldDoubtsFunc func, void *userdata)
{
        g_autoptr(GArray) claims = g_array_new(FALSE, FALSE, sizeof(RateClaim));
        g_autoptr(GHashTable) groups = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
        Comparison comparison = { claims, groups };
        DoubtRound round = { claims, 0, func, userdata };

        ald_store_foreach_node(store, add_claims_of_node, &comparison);
        ald_store_foreach_node(store, judge_next, &round);
}

const AldDoubt *ald_doubts_find(const AldDoubts *doubts, const char *device, AldDoubtField field)
{
        for (size_t i = 0; doubts && i < doubts->figures.n; i++) {
                const AldDoubt *doubt = ald_rows_at(&doubts->figures, i);

                if (doubt->left_out == 1 && g_strcmp0(doubt->device, device) == 0 &&
                        ald_doubt_field_from_string(doubt->field) == (int) field)
                        return doubt;
        }
        return NULL;
}
