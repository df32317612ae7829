/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "services/common/errors.h"
#include "services/placement/plan-request.h"

/* The context of looking up names. */
typedef struct NameLookup {
        AldModel *model;
        GPtrArray *owned;
        const char *failed;     /* the text that could not be resolved */
        const char *candidates; /* ids of the matching nodes, if there are several */
} NameLookup;

static int resolve_name(NameLookup *lookup, const char *text, bool with_device, const char **ret)
{
        char *resolved, *candidates;
        AldPinResult result = ald_pin_resolve(lookup->model, text, with_device, &resolved, &candidates);

        if (result == ALD_PIN_FOUND) {
                g_ptr_array_add(lookup->owned, resolved);
                *ret = resolved;
                return 0;
        }
        lookup->failed = text;
        if (result == ALD_PIN_AMBIGUOUS) {
                g_ptr_array_add(lookup->owned, candidates);
                lookup->candidates = candidates;
                return -ALD_E_AMBIGUOUS_NAME;
        }
        return result == ALD_PIN_NO_DEVICE ? -ALD_E_NO_SUCH_DEVICE : -ALD_E_NO_SUCH_NODE;
}

static size_t count_strings(const char *const *list)
{
        return list ? g_strv_length((char **) list) : 0;
}

static int resolve_list(NameLookup *lookup, const char *const *list, const char *const **ret)
{
        size_t n = count_strings(list);
        const char **resolved = g_new0(const char *, n + 1);

        g_ptr_array_add(lookup->owned, resolved);
        for (size_t i = 0; i < n; i++) {
                int r = resolve_name(lookup, list[i], true, &resolved[i]);

                if (r < 0)
                        return r;
        }
        *ret = resolved;
        return 0;
}

static int resolve_pin(NameLookup *lookup, const char *text, AldPlanPin *ret)
{
        g_auto(AldPlanPin) pin = { 0 };
        const char *device;
        int r = ald_plan_pin_parse(text, &pin);

        if (r < 0) {
                lookup->failed = text;
                return r;
        }
        r = resolve_name(lookup, pin.device, true, &device);
        if (r >= 0 && !strchr(device, '/'))
                r = -ALD_E_NO_SUCH_DEVICE; /* it names a node only */
        if (r < 0) {
                lookup->failed = text;
                return r;
        }
        *ret = (AldPlanPin){ (char *) device, pin.layers };
        return 0;
}

static int resolve_split(NameLookup *lookup, const char *const *split, AldPlanRequest *request)
{
        size_t n = count_strings(split);
        AldPlanPin *pins = g_new0(AldPlanPin, n + 1);

        g_ptr_array_add(lookup->owned, pins);
        for (size_t i = 0; i < n; i++) {
                int r = resolve_pin(lookup, split[i], &pins[i]);

                if (r < 0)
                        return r;
        }
        request->pins = n > 0 ? pins : NULL;
        request->n_pins = (uint32_t) n;
        return 0;
}

static uint32_t limit_or_none(uint64_t stated)
{
        return stated == ALD_ABSENT_UINT64 ? 0 : (uint32_t) stated;
}

static void set_figures(AldPlanRequest *request, const AldPlanOptions *options)
{
        request->engine = ald_plan_engine_find(options->engine);
        request->goal = options->goal ? (AldPlanOptionsGoal) ald_plan_options_goal_from_string(options->goal)
                                      : ALD_PLAN_OPTIONS_GOAL_LATENCY;
        request->devices_max = limit_or_none(options->max_devices);
        request->nodes_max = limit_or_none(options->max_nodes);
        request->assumed_rtt_nsec = request->assumed_bits_per_second = NAN;
        if (options->assumed_bits_per_second != ALD_ABSENT_UINT64) {
                request->assumed_rtt_nsec = (double) options->assumed_rtt_nsec;
                request->assumed_bits_per_second = (double) options->assumed_bits_per_second;
        }
        ald_plan_constants_init(&request->constants, options);
}

/* Sets the sizes of the layers. The workload has been checked. */
static void set_sizes(AldPlanRequest *request, GPtrArray *owned)
{
        const char *reason;
        AldPlanLayerSizes *sizes;

        if (!request->workload->layer_sizes)
                return;
        sizes = ald_plan_layer_sizes_new(request->workload, &reason);
        g_ptr_array_add(owned, sizes);
        request->sizes = sizes;
}

int ald_plan_request_make(AldModel *model, const AldPlanWorkload *workload, const AldPlanOptions *options,
        GPtrArray *owned, AldPlanRequest *ret, const char **ret_text, const char **ret_candidates)
{
        NameLookup lookup = { .model = model, .owned = owned };
        AldPlanRequest request = { .workload = workload };
        int r;

        set_figures(&request, options);
        set_sizes(&request, owned);
        r = resolve_list(&lookup, options->must, &request.required);
        if (r >= 0)
                r = resolve_list(&lookup, options->without, &request.without);
        if (r >= 0)
                r = resolve_split(&lookup, options->split, &request);
        if (r >= 0 && options->client)
                r = resolve_name(&lookup, options->client, false, &request.client);
        if (r < 0) {
                *ret_text = lookup.failed;
                *ret_candidates = lookup.candidates;
                return r;
        }
        *ret = request;
        return 0;
}
