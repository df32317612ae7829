/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <string.h>

#include "placement/plan/method.h"
#include "placement/plan/model-files.h"

/*
 * What the engines' own documentation says: convert_hf_to_gguf.py is llama.cpp's; vLLM has moved GGUF to a
 * plugin, which loads models of one file; SGLang detects a path that ends in .gguf; programs for torch load
 * safetensors; convert-hf.py of distributed-llama makes files of its own of the architectures below.
 */
static const struct {
        const char *engine;
        AldPlanWorkloadModelFormat format;
        AldEngineReading reading;
        const char *text;
} rules[] = {
        { "llama.cpp", ALD_PLAN_WORKLOAD_MODEL_FORMAT_SAFETENSORS, ALD_MODEL_REFUSED,
                "llama.cpp reads GGUF files only; convert the folder with its convert_hf_to_gguf.py "
                "(convert_hf_to_gguf.py --outfile MODEL.gguf FOLDER), and place that file" },
        { "vllm", ALD_PLAN_WORKLOAD_MODEL_FORMAT_GGUF, ALD_MODEL_PREPARED,
                "vllm reads GGUF only with vllm-gguf-plugin, which is experimental, and only if it is one "
                "file" },
        { "torch", ALD_PLAN_WORKLOAD_MODEL_FORMAT_GGUF, ALD_MODEL_REFUSED,
                "torch does not read GGUF; place the folder with safetensors that the file was converted "
                "from" },
        { "distributed-llama", ALD_PLAN_WORKLOAD_MODEL_FORMAT_GGUF, ALD_MODEL_REFUSED,
                "distributed-llama does not read GGUF; place the folder with safetensors that the file was "
                "converted from, of which its convert-hf.py makes a file that it reads" },
        { "distributed-llama", ALD_PLAN_WORKLOAD_MODEL_FORMAT_SAFETENSORS, ALD_MODEL_PREPARED,
                "distributed-llama reads a file that its convert-hf.py makes of the folder "
                "(convert-hf.py FOLDER q40 NAME); the weights are planned as large as they are in the "
                "folder, with q40 they take 4.5 bits each" },
};

/* As safetensors and GGUF call them. */
static const char *const dllama_architectures[] = { "llama", "mistral", "qwen3", "qwen3_moe", "qwen3moe",
        NULL };

#define OTHER_ARCHITECTURE                                                                                   \
        "distributed-llama runs the architectures llama, mistral, qwen3 and qwen3_moe only; choose another " \
        "engine"

AldEngineReading ald_plan_engine_reading(
        const AldPlanEngine *engine, const AldPlanWorkload *workload, const char **ret_text)
{
        int format = workload->model_format
                             ? ald_plan_workload_model_format_from_string(workload->model_format)
                             : -1;

        if (strcmp(engine->name, "distributed-llama") == 0 && workload->architecture &&
                !g_strv_contains(dllama_architectures, workload->architecture)) {
                *ret_text = OTHER_ARCHITECTURE;
                return ALD_MODEL_REFUSED;
        }
        for (size_t i = 0; format >= 0 && i < G_N_ELEMENTS(rules); i++) {
                if (format != (int) rules[i].format || strcmp(engine->name, rules[i].engine) != 0)
                        continue;
                *ret_text = rules[i].text;
                return rules[i].reading;
        }
        return ALD_MODEL_READ;
}

/* Those that run models; NULL after the last one. */
static const AldPlanEngine *engine_at(size_t i)
{
        const AldField *field = ald_struct_find(&ald_plan_options_struct, "Engine");
        const AldPlanEngine *engine = field->words[i] ? ald_plan_engine_find(field->words[i]) : NULL;

        return engine && engine->method->has_layers ? engine : NULL;
}

const AldPlanEngine *ald_plan_engine_choose(const AldPlanWorkload *workload)
{
        const char *text;

        for (size_t i = 0; engine_at(i); i++)
                if (ald_plan_engine_reading(engine_at(i), workload, &text) == ALD_MODEL_READ)
                        return engine_at(i);
        return engine_at(0);
}

char *ald_plan_engine_choice_text(const AldPlanWorkload *workload)
{
        const AldPlanEngine *chosen = ald_plan_engine_choose(workload);
        g_autoptr(GString) readers = g_string_new(NULL), not_read = g_string_new(NULL);
        const char *text;

        for (size_t i = 0; engine_at(i); i++)
                if (ald_plan_engine_reading(engine_at(i), workload, &text) == ALD_MODEL_READ)
                        g_string_append_printf(
                                readers, "%s%s", readers->len > 0 ? ", " : "", engine_at(i)->name);
                else
                        g_string_append_printf(not_read, " %s.", text);
        if (not_read->len == 0)
                return NULL;
        return g_strdup_printf("%s was chosen of the engines that read the model: %s.%s", chosen->name,
                readers->str, not_read->str);
}
