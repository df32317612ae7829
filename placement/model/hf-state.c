/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "placement/model/hf-state.h"

#define KERNEL_DEFAULT 4u /* in all of these classes of transformers */
#define EXPAND_DEFAULT 2.0
#define KDA_PARTS 3u   /* queries, keys and values are convolved */
#define RWKV_SHIFTS 2u /* in attention, and in the network after it */

typedef struct Sizes {
        json_t *text;
        const AldLlm *llm;
        const char *missing;
} Sizes;

/* Sums and products of any numbers of 31 bits, of which a file may state too many: infinite beyond 64 bits.
 */
static uint64_t product(uint64_t a, uint64_t b)
{
        return __builtin_mul_overflow(a, b, &a) ? UINT64_MAX : a;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
        return __builtin_add_overflow(a, b, &a) ? UINT64_MAX : a;
}

static bool state_number(json_t *object, const char *const *names, uint32_t *ret)
{
        const char *name = NULL;
        json_t *value = ald_hf_find(object, names, &name);

        return value && ald_hf_is_count(value, ret);
}

#define NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* 0 with the first name noted as missing. */
static uint32_t need(Sizes *sizes, json_t *object, const char *const *names)
{
        uint32_t value = 0;

        if (!state_number(object, names, &value) && !sizes->missing)
                sizes->missing = names[0];
        return value;
}

/* What a convolution over that many numbers remembers. */
static uint64_t convolution(json_t *object, const char *const *names, uint64_t width)
{
        uint32_t kernel = KERNEL_DEFAULT;

        (void) state_number(object, names, &kernel);
        return product(kernel > 0 ? kernel - 1 : 0, width);
}

static uint32_t width_of(Sizes *sizes)
{
        if (sizes->llm->embedding_length == ALD_LLM_ABSENT_COUNT && !sizes->missing)
                sizes->missing = "hidden_size";
        return sizes->llm->embedding_length == ALD_LLM_ABSENT_COUNT ? 0 : sizes->llm->embedding_length;
}

/* The gated delta networks of Qwen3-Next and its successors. */
static uint64_t find_delta(Sizes *sizes)
{
        uint64_t key_heads = need(sizes, sizes->text, NAMES("linear_num_key_heads"));
        uint64_t heads = need(sizes, sizes->text, NAMES("linear_num_value_heads"));
        uint64_t key = need(sizes, sizes->text, NAMES("linear_key_head_dim"));
        uint64_t values = product(heads, need(sizes, sizes->text, NAMES("linear_value_head_dim")));
        uint64_t width = sum(product(2, product(key_heads, key)), values);

        return sum(convolution(sizes->text, NAMES("linear_conv_kernel_dim"), width), product(values, key));
}

/* Kimi Linear. */
static uint64_t find_kda(Sizes *sizes, json_t *linear)
{
        uint64_t length = need(sizes, linear, NAMES("head_dim"));
        uint64_t width = product(length, need(sizes, linear, NAMES("num_heads")));

        return sum(product(KDA_PARTS, convolution(linear, NAMES("short_conv_kernel_size"), width)),
                product(width, length));
}

/* Only files of networks without attention call it so. */
static bool is_mamba(const Sizes *sizes)
{
        const char *name = sizes->llm->architecture;

        return strcmp(name, "mamba") == 0 || strcmp(name, "falcon_mamba") == 0;
}

static uint64_t find_inner(Sizes *sizes)
{
        json_t *expand = json_object_get(sizes->text, "mamba_expand");
        uint32_t inner = 0, heads = 0, length = 0;
        double times;

        if (state_number(sizes->text, NAMES("mamba_d_ssm"), &inner) ||
                (is_mamba(sizes) && state_number(sizes->text, NAMES("intermediate_size"), &inner)))
                return inner;
        if (state_number(sizes->text, NAMES("mamba_n_heads", "mamba_num_heads"), &heads) &&
                state_number(sizes->text, NAMES("mamba_d_head", "mamba_head_dim"), &length))
                return product(heads, length);
        if (!json_is_number(expand))
                expand = json_object_get(sizes->text, "expand");
        times = json_is_number(expand) ? json_number_value(expand) : EXPAND_DEFAULT;
        return times > 0 && times < UINT16_MAX ? (uint64_t) ceil(times * width_of(sizes)) : UINT64_MAX;
}

/* Mamba 1 convolves its input alone, Mamba 2 also what leads into the state and out of it. */
static uint64_t find_mamba(Sizes *sizes)
{
        uint64_t size = need(sizes, sizes->text,
                NAMES("ssm_state_size", "mamba_d_state", "state_size", "mamba_state_dim"));
        uint64_t inner = find_inner(sizes);
        uint32_t groups = 0;

        (void) state_number(sizes->text, NAMES("mamba_n_groups", "n_groups", "mamba_ngroups"), &groups);
        return sum(convolution(sizes->text, NAMES("mamba_d_conv", "conv_kernel", "conv_kernel_size"),
                           sum(inner, product(2 * (uint64_t) groups, size))),
                product(inner, size));
}

static uint64_t find_rwkv(Sizes *sizes)
{
        return product(
                width_of(sizes), sum(RWKV_SHIFTS, need(sizes, sizes->text, NAMES("head_size", "head_dim"))));
}

/* The lightning attention of MiniMax-Text-01, and of Ling and Ring. */
static uint64_t find_lightning(Sizes *sizes)
{
        uint64_t length = need(sizes, sizes->text, NAMES("head_dim"));

        return product(product(length, length), need(sizes, sizes->text, NAMES("num_attention_heads")));
}

/* In the order in which keys are looked for. */
static const char *const state_keys[] = { "linear_num_value_heads", "linear_attn_config", "conv_L_cache",
        "ssm_state_size", "mamba_d_state", "state_size", "mamba_state_dim" };

const char *ald_hf_state_key(const AldHfKeys *keys)
{
        for (size_t i = 0; i < G_N_ELEMENTS(state_keys); i++) {
                json_t *value = json_object_get(ald_hf_text(keys), state_keys[i]);

                if (value && !json_is_null(value))
                        return state_keys[i];
        }
        return NULL;
}

const char *ald_hf_state_find(const AldHfKeys *keys, const AldLlm *llm, uint64_t *ret)
{
        Sizes sizes = { ald_hf_text(keys), llm, NULL };
        const char *key = ald_hf_state_key(keys);

        if (key && strcmp(key, "linear_num_value_heads") == 0)
                *ret = find_delta(&sizes);
        else if (key && strcmp(key, "linear_attn_config") == 0)
                *ret = find_kda(&sizes, json_object_get(sizes.text, key));
        else if (key && strcmp(key, "conv_L_cache") == 0)
                *ret = convolution(sizes.text, NAMES("conv_L_cache"), width_of(&sizes));
        else if (key)
                *ret = find_mamba(&sizes);
        else if (g_str_has_prefix(llm->architecture, "rwkv"))
                *ret = find_rwkv(&sizes);
        else if (g_str_has_prefix(llm->architecture, "minimax") ||
                 g_str_has_prefix(llm->architecture, "bailing"))
                *ret = find_lightning(&sizes);
        else
                sizes.missing = "linear_num_value_heads or ssm_state_size";
        return sizes.missing;
}
