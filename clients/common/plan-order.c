/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <math.h>

#include "clients/common/format.h"
#include "clients/common/plan-order.h"
#include "clients/common/safe-text.h"
#include "placement/plan/method.h"
#include "placement/plan/model-files.h"
#include "placement/plan/workload.h"
#include "record/translate.h"

#define CONTEXT 4096u

uint64_t ald_plan_order_context(const AldLlm *llm)
{
        return !llm || llm->context == ALD_LLM_ABSENT_COUNT ? CONTEXT : MIN(CONTEXT, llm->context);
}

bool ald_plan_engine_is_collective(const AldPlanEngine *engine)
{
        return engine && !engine->method->has_layers;
}

bool ald_plan_order_has_numbers(const AldPlanOrder *order)
{
        if (ald_plan_engine_is_collective(order->engine))
                return order->message_bytes != ALD_ABSENT_UINT64;
        return order->bytes != ALD_ABSENT_UINT64 && order->layers != ALD_ABSENT_UINT64 && order->layers > 0 &&
               order->elements != ALD_ABSENT_UINT64;
}

static AldPlanWorkload workload_of_numbers(const AldPlanOrder *order, uint64_t context, uint64_t parallel)
{
        AldPlanWorkload workload = ALD_PLAN_WORKLOAD_INIT;

        workload.layers = order->layers;
        workload.layer_bytes = MAX((order->bytes + order->layers - 1) / order->layers, 1);
        if (order->kv_bytes != ALD_ABSENT_UINT64)
                workload.layer_kv_bytes = (order->kv_bytes + order->layers - 1) / order->layers;
        workload.activation_elements = order->elements;
        workload.context = context;
        workload.parallel = parallel;
        return workload;
}

static char *explain_error(const AldLlm *llm, int error)
{
        g_autofree char *missing = error == -ENODATA ? ald_llm_missing_figure(llm) : NULL;

        if (error == -EOPNOTSUPP)
                return g_strdup_printf(_("Cannot tell the size of its keys and values: %s"), llm->kv_problem);
        if (missing)
                return g_strdup_printf(
                        _("Cannot place the model: its files do not state all sizes: %s"), missing);
        return g_strdup_printf(_("Cannot place the model: %s"),
                error == -EINVAL
                        ? _("its heads do not consist of whole blocks of that type of keys and values")
                        : g_strerror(-error));
}

static AldKvType effective_type(const AldPlanOrder *order, AldKvType chosen)
{
        return chosen == ALD_N_KV_TYPES ? ald_plan_engine_kv_type(order->engine) : chosen;
}

/* Without a model, the type is known only if the user stated it. */
static const char *type_name(const AldPlanOrder *order, AldKvType chosen)
{
        return !order->llm && chosen == ALD_N_KV_TYPES ? NULL
                                                       : ald_kv_type_name(effective_type(order, chosen));
}

static bool can_keep(const AldPlanOrder *order, AldKvType chosen)
{
        return chosen == ALD_N_KV_TYPES || ald_plan_engine_keeps(order->engine, chosen);
}

int ald_plan_order_check_types(const AldPlanOrder *order, char **ret_error)
{
        g_autofree char *list = NULL;

        if (ald_plan_engine_is_collective(order->engine) ||
                (can_keep(order, order->type_k) && can_keep(order, order->type_v)))
                return 0;
        list = ald_plan_engine_kv_type_list(order->engine);
        *ret_error = g_strdup_printf(
                _("%s keeps keys and values in these types only: %s"), order->engine->name, list);
        return -EINVAL;
}

static void set_files(const AldLlm *llm, AldPlanWorkload *workload)
{
        static const char *const formats[] = {
                [ALD_LLM_GGUF] = "gguf", [ALD_LLM_SAFETENSORS] = "safetensors"
        };

        workload->model_format = formats[llm->format];
        workload->architecture = llm->architecture;
}

const AldPlanEngine *ald_plan_order_choose(const AldLlm *llm, char **ret_text)
{
        AldPlanWorkload workload = ALD_PLAN_WORKLOAD_INIT;

        if (llm)
                set_files(llm, &workload);
        *ret_text = ald_plan_engine_choice_text(&workload);
        return ald_plan_engine_choose(&workload);
}

/* Returns -EINVAL with a sentence, to be freed, if the engine cannot read the files. */
static int check_files(const AldPlanOrder *order, char **ret_error)
{
        AldPlanWorkload workload = ALD_PLAN_WORKLOAD_INIT;
        const char *text;

        if (!order->llm || !order->engine)
                return 0;
        set_files(order->llm, &workload);
        if (ald_plan_engine_reading(order->engine, &workload, &text) != ALD_MODEL_REFUSED)
                return 0;
        *ret_error = g_strdup(text);
        return -EINVAL;
}

int ald_plan_order_workload(const AldPlanOrder *order, AldPlanWorkload *ret, char **ret_error)
{
        uint64_t context = order->context == ALD_ABSENT_UINT64 ? ald_plan_order_context(order->llm)
                                                               : order->context;
        uint64_t parallel = order->parallel == ALD_ABSENT_UINT64 ? 1 : order->parallel;
        AldPlanWorkload workload;
        int r;

        if (ald_plan_engine_is_collective(order->engine)) {
                *ret = (AldPlanWorkload) ALD_PLAN_WORKLOAD_INIT;
                ret->message_bytes = order->message_bytes;
                return 0;
        }
        r = check_files(order, ret_error);
        if (r >= 0)
                r = ald_plan_order_check_types(order, ret_error);
        if (r < 0)
                return r;
        if (!order->llm)
                workload = workload_of_numbers(order, context, parallel);
        else if (order->kv_bytes != ALD_ABSENT_UINT64)
                r = ald_plan_workload_of_llm_and_kv(
                        order->llm, order->kv_bytes, (uint32_t) context, (uint32_t) parallel, &workload);
        else
                r = ald_plan_workload_of_llm(order->llm, (uint32_t) context, (uint32_t) parallel,
                        effective_type(order, order->type_k), effective_type(order, order->type_v),
                        &workload);
        if (r < 0) {
                *ret_error = explain_error(order->llm, r);
                return r;
        }
        if (order->llm)
                set_files(order->llm, &workload);
        workload.kv_type_k = type_name(order, order->type_k);
        workload.kv_type_v = type_name(order, order->type_v);
        *ret = workload;
        return 0;
}

static double known_bytes(uint64_t bytes)
{
        return bytes == ALD_LLM_ABSENT ? NAN : (double) bytes;
}

/* Returns NAN if the files do not state all sizes. */
static double total_bytes(const AldLlm *llm)
{
        double bytes = known_bytes(llm->embedding_bytes) + known_bytes(llm->head_bytes);

        for (uint32_t i = 0; i < llm->n_layers; i++)
                bytes += known_bytes(llm->layers[i].bytes);
        return bytes;
}

static char *message_title(const AldPlanOrder *order)
{
        g_autofree char *size = ald_format_bytes(ald_uint64_to_double(order->message_bytes));

        return g_strdup_printf(_("all-reduce of %s"), size);
}

char *ald_plan_order_title(const AldPlanOrder *order)
{
        const AldLlm *llm = order->llm;
        uint64_t n_layers = llm ? llm->n_layers : order->layers;
        const double bytes = llm ? total_bytes(llm) : (double) order->bytes;
        g_autofree char *size = ald_format_bytes(bytes);
        g_autofree char *layers = g_strdup_printf(
                ngettext("%lu layer", "%lu layers", n_layers), (unsigned long) n_layers);
        g_autofree char *name = NULL, *architecture = NULL;

        if (ald_plan_engine_is_collective(order->engine))
                return message_title(order);
        if (!llm)
                return g_strdup_printf("%s, %s", layers, size);
        name = llm->name ? ald_text_safe(llm->name) : g_strdup(_("a model"));
        architecture = llm->architecture ? ald_text_safe(llm->architecture)
                                         : g_strdup(_("unknown architecture"));
        if (isnan(bytes))
                return g_strdup_printf("%s (%s), %s", name, architecture, layers);
        return g_strdup_printf("%s (%s), %s, %s", name, architecture, layers, size);
}

char *ald_plan_order_note(const AldPlanOrder *order)
{
        const AldLlm *llm = order->llm;
        uint64_t context = order->context == ALD_ABSENT_UINT64 ? ald_plan_order_context(llm) : order->context;
        const char *doubt = llm && order->kv_bytes == ALD_ABSENT_UINT64
                                    ? ald_llm_window_doubt(llm, (uint32_t) context)
                                    : NULL;

        if (llm && llm->ollama_only)
                return g_strdup(_("Only Ollama runs this file; llama.cpp does not load it"));
        return doubt ? g_strdup_printf(_("Less memory may do for keys and values: %s"), doubt) : NULL;
}
