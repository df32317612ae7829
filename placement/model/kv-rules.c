/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "placement/model/kv-rules.h"

#define ABSENT ALD_LLM_ABSENT_COUNT

typedef enum Rule {
        RULE_PLAIN,       /* the same in each layer; a window is not understood */
        RULE_LATENT,      /* keys and values are compressed */
        RULE_NO_WINDOW,   /* files state a window that llama.cpp ignores */
        RULE_WINDOW,      /* in all layers but the last of each period */
        RULE_MAY_WINDOW,  /* the same if a window is stated */
        RULE_LISTED,      /* the file lists the layers with a window */
        RULE_FIRST_LAYERS /* RULE_WINDOW, and only the first layers keep any */
} Rule;

typedef struct Architecture {
        const char *name;
        Rule rule;
        uint32_t period, window, layers;
} Architecture;

/* Names are those in GGUF files and in config.json. Other architectures may keep something else, such as the
 * state of a recurrent network, so no figure is given for them. */
static const Architecture architectures[] = {
        { "apertus", RULE_PLAIN },
        { "arcee", RULE_PLAIN },
        { "baichuan", RULE_PLAIN },
        { "bailingmoe", RULE_PLAIN },
        { "bailingmoe2", RULE_PLAIN },
        { "bailing_moe", RULE_PLAIN },
        { "bloom", RULE_PLAIN },
        { "cohere", RULE_PLAIN },
        { "cohere2", RULE_WINDOW, .period = 4, .window = ABSENT },
        { "command-r", RULE_PLAIN },
        { "dbrx", RULE_PLAIN },
        { "deci", RULE_PLAIN },
        { "deepseek", RULE_PLAIN },
        { "deepseek2", RULE_PLAIN },
        { "deepseek_v2", RULE_LATENT },
        { "deepseek_v3", RULE_LATENT },
        { "dots1", RULE_PLAIN },
        { "ernie4_5", RULE_PLAIN },
        { "ernie4_5-moe", RULE_PLAIN },
        { "ernie4_5_moe", RULE_PLAIN },
        { "exaone", RULE_PLAIN },
        { "falcon", RULE_PLAIN },
        { "gemma", RULE_PLAIN },
        { "gemma2", RULE_WINDOW, .period = 2, .window = 4096 },
        { "gemma3", RULE_MAY_WINDOW, .period = 6, .window = ABSENT },
        { "gemma3_text", RULE_WINDOW, .period = 6, .window = ABSENT },
        { "gemma3n", RULE_FIRST_LAYERS, .period = 5, .window = ABSENT, .layers = 20 },
        { "gemma4", RULE_LISTED },
        { "glm4", RULE_PLAIN },
        { "glm4_moe", RULE_PLAIN },
        { "glm4moe", RULE_PLAIN },
        { "gpt-oss", RULE_WINDOW, .period = 2, .window = ABSENT },
        { "gpt2", RULE_PLAIN },
        { "gpt_neox", RULE_PLAIN },
        { "gpt_oss", RULE_WINDOW, .period = 2, .window = ABSENT },
        { "gptneox", RULE_PLAIN },
        { "granite", RULE_PLAIN },
        { "granitemoe", RULE_PLAIN },
        { "hunyuan-dense", RULE_PLAIN },
        { "hunyuan-moe", RULE_PLAIN },
        { "internlm2", RULE_PLAIN },
        { "kimi_k2", RULE_LATENT },
        { "llama", RULE_PLAIN },
        { "minicpm", RULE_PLAIN },
        { "minimax-m2", RULE_PLAIN },
        { "minimax_m2", RULE_PLAIN },
        { "mistral", RULE_PLAIN },
        { "mistral3", RULE_PLAIN },
        { "mixtral", RULE_PLAIN },
        { "nemotron", RULE_PLAIN },
        { "olmo", RULE_PLAIN },
        { "olmo2", RULE_PLAIN },
        { "olmoe", RULE_PLAIN },
        { "orion", RULE_PLAIN },
        { "phi", RULE_PLAIN },
        { "phi2", RULE_PLAIN },
        { "phi3", RULE_NO_WINDOW },
        { "qwen", RULE_PLAIN },
        { "qwen2", RULE_PLAIN },
        { "qwen2_moe", RULE_PLAIN },
        { "qwen2_vl", RULE_PLAIN },
        { "qwen2_5_vl", RULE_PLAIN },
        { "qwen2moe", RULE_PLAIN },
        { "qwen2vl", RULE_PLAIN },
        { "qwen3", RULE_PLAIN },
        { "qwen3_moe", RULE_PLAIN },
        { "qwen3_vl_moe_text", RULE_PLAIN },
        { "qwen3_vl_text", RULE_PLAIN },
        { "qwen3moe", RULE_PLAIN },
        { "qwen3vl", RULE_PLAIN },
        { "qwen3vlmoe", RULE_PLAIN },
        { "seed_oss", RULE_PLAIN },
        { "smollm3", RULE_PLAIN },
        { "stablelm", RULE_PLAIN },
        { "starcoder", RULE_PLAIN },
        { "starcoder2", RULE_PLAIN },
        { "xverse", RULE_PLAIN },
};

void ald_attention_init(AldAttention *attention, uint32_t n_layers)
{
        *attention = (AldAttention){ .heads = g_new(uint32_t, n_layers),
                .kv_heads = g_new(uint32_t, n_layers),
                .key_length = ABSENT,
                .value_length = ABSENT,
                .window_key_length = ABSENT,
                .window_value_length = ABSENT,
                .window = ABSENT,
                .period = ABSENT };
        for (uint32_t i = 0; i < n_layers; i++) {
                attention->heads[i] = ABSENT;
                attention->kv_heads[i] = ABSENT;
        }
}

void ald_attention_clear(AldAttention *attention)
{
        g_free(attention->heads);
        g_free(attention->kv_heads);
        g_free(attention->windowed);
        g_free(attention->problem);
        *attention = (AldAttention){ 0 };
}

static const Architecture *find_architecture(const char *name)
{
        for (size_t i = 0; i < G_N_ELEMENTS(architectures); i++)
                if (strcmp(architectures[i].name, name) == 0)
                        return &architectures[i];
        return NULL;
}

static bool is_windowed(const Architecture *architecture, const AldAttention *attention, uint32_t layer)
{
        uint32_t period = attention->period != ABSENT ? attention->period : architecture->period;

        if (attention->windowed)
                return attention->windowed[layer];
        return period == 0 || layer % period < period - 1;
}

/* *ret is absent if no layer has a window. */
static const char *find_window(const Architecture *architecture, const AldAttention *attention, uint32_t *ret)
{
        uint32_t window = attention->window != ABSENT ? attention->window : architecture->window;
        Rule rule = architecture->rule;
        bool stated = window != ABSENT && window > 0;

        if (rule == RULE_LATENT && !attention->latent)
                return "it does not state how long compressed keys are";
        if (rule == RULE_LISTED && !attention->windowed)
                return "it does not list the layers that attend to a window";
        if (rule != RULE_LISTED && attention->sharing > 0)
                return "it states that layers share keys and values, and it is not known which";
        if ((rule == RULE_PLAIN || rule == RULE_LATENT) && stated && !attention->windowed)
                return "it states a window, and it is not known which layers apply it";
        if (!stated && (attention->windowed || rule == RULE_WINDOW || rule == RULE_FIRST_LAYERS))
                return "it does not state how many tokens the window of its layers has";
        *ret = stated && rule != RULE_NO_WINDOW ? window : ABSENT;
        return NULL;
}

/* By default, all heads together are as wide as the model. */
static uint32_t find_length(const AldLlm *llm, const AldAttention *attention, uint32_t stated)
{
        uint32_t heads = attention->heads[0];

        if (stated != ABSENT)
                return stated;
        if (llm->embedding_length == ABSENT || heads == ABSENT || heads == 0)
                return ABSENT;
        return llm->embedding_length / heads;
}

static const char *set_layer(AldLlm *llm, const AldAttention *attention, uint32_t i, bool windowed)
{
        AldLlmLayer *layer = &llm->layers[i];
        uint32_t key = attention->key_length, value = attention->value_length;

        if (windowed && attention->window_key_length != ABSENT)
                key = attention->window_key_length;
        if (windowed && attention->window_value_length != ABSENT)
                value = attention->window_value_length;
        layer->kv_heads = attention->kv_heads[i] != ABSENT ? attention->kv_heads[i] : attention->heads[i];
        layer->key_length = find_length(llm, attention, key);
        /* Older versions of llama.cpp kept the values too. */
        layer->value_length = attention->latent ? 0 : find_length(llm, attention, value);
        if (layer->kv_heads == ABSENT)
                return "it does not state how many heads its layers have";
        if (layer->key_length == ABSENT || layer->value_length == ABSENT)
                return "it does not state how long keys and values are";
        return NULL;
}

static const char *apply(AldLlm *llm, const Architecture *architecture, const AldAttention *attention)
{
        uint32_t window = ABSENT, keeping = llm->n_layers - MIN(attention->sharing, llm->n_layers);
        const char *problem = find_window(architecture, attention, &window);

        if (architecture->rule == RULE_FIRST_LAYERS)
                keeping = MIN(keeping, architecture->layers);
        for (uint32_t i = 0; i < llm->n_layers && !problem; i++) {
                bool windowed = window != ABSENT && is_windowed(architecture, attention, i);

                problem = set_layer(llm, attention, i, windowed);
                llm->layers[i].window = windowed ? window : ABSENT;
                if (i >= keeping)
                        llm->layers[i].kv_heads = 0;
        }
        return problem;
}

/* A part of the figures might be taken for all of them. */
static void refuse(AldLlm *llm, char *problem)
{
        llm->kv_problem = problem;
        for (uint32_t i = 0; i < llm->n_layers; i++) {
                llm->layers[i].kv_heads = ABSENT;
                llm->layers[i].key_length = ABSENT;
                llm->layers[i].value_length = ABSENT;
                llm->layers[i].window = ABSENT;
        }
}

void ald_kv_rules_apply(AldLlm *llm, const AldAttention *attention)
{
        const Architecture *architecture = find_architecture(llm->architecture);
        const char *problem;

        if (!architecture) {
                refuse(llm,
                        g_strdup_printf(
                                "it is not known what models of the architecture \"%s\" keep of each token",
                                llm->architecture));
                return;
        }
        if (attention->problem) {
                refuse(llm, g_strdup(attention->problem));
                return;
        }
        problem = apply(llm, architecture, attention);
        if (problem)
                refuse(llm, g_strdup(problem));
}
