/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "placement/model/hf-state.h"

#define KERNEL_DEFAULT 4u /* the default of all these classes in transformers */
#define EXPAND_DEFAULT 2.0
#define KDA_PARTS 3u   /* queries, keys and values are convolved */
#define RWKV_SHIFTS 2u /* one in attention, and one in the network after it */

typedef struct Sizes {
        json_t *text;
        const AldLlm *llm;
        uint32_t rows;            /* of the widest tensor of a convolution; absent if unknown */
        uint32_t all_rows;        /* of all such tensors of the layer */
        uint32_t kernel;          /* tokens that it covers; 0 if unknown */
        const char *bad, *reason; /* a key that is missing or wrong; NULL if none is */
} Sizes;

/* Sums and products of numbers from files, which may be too large: UINT64_MAX stands for all beyond 64
 * bits. */
static uint64_t product(uint64_t a, uint64_t b)
{
        return __builtin_mul_overflow(a, b, &a) ? UINT64_MAX : a;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
        return __builtin_add_overflow(a, b, &a) ? UINT64_MAX : a;
}

static void refuse_key(Sizes *sizes, const char *key, const char *reason)
{
        if (sizes->bad)
                return;
        sizes->bad = key;
        sizes->reason = reason;
}

/* Reads a number; returns false if it is not stated. One that is not understood is refused, so that no
 * default takes its place. */
static bool take_number(Sizes *sizes, json_t *object, const char *const *names, uint32_t *ret)
{
        const char *name = NULL;
        json_t *value = ald_hf_find(object, names, &name);
        uint32_t count = 0;

        if (!value || g_strcmp0(json_string_value(value), "auto") == 0)
                return false;
        if (!ald_hf_is_count(value, &count) || count == 0)
                refuse_key(sizes, name, "it is not a whole number above 0");
        else
                *ret = count;
        return true;
}

#define NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Returns the number, or 0 and notes the first name as missing. */
static uint32_t require_number(Sizes *sizes, json_t *object, const char *const *names)
{
        uint32_t value = 0;

        if (!take_number(sizes, object, names, &value))
                refuse_key(sizes, names[0], NULL);
        return value;
}

/* Returns how many numbers a convolution over `width` numbers remembers. Its tensor has a row for each of
 * these, or several tensors have them together; if they do not fit config.json, the key is refused. */
static uint64_t count_convolution(Sizes *sizes, json_t *object, const char *const *names, uint64_t width)
{
        uint32_t kernel = KERNEL_DEFAULT;

        (void) take_number(sizes, object, names, &kernel);
        if (sizes->rows != ALD_LLM_ABSENT_COUNT && sizes->rows != width && sizes->all_rows != width)
                refuse_key(sizes, names[0],
                        "the tensor of this convolution has another width than config.json says");
        if (kernel < sizes->kernel)
                refuse_key(sizes, names[0], "it is less than the tensor of this convolution has");
        return product(kernel > 0 ? kernel - 1 : 0, width);
}

static uint32_t width_of(Sizes *sizes)
{
        if (sizes->llm->embedding_length == ALD_LLM_ABSENT_COUNT)
                refuse_key(sizes, "hidden_size", NULL);
        else if (sizes->llm->embedding_length == 0)
                refuse_key(sizes, "hidden_size", "it is 0");
        return sizes->llm->embedding_length == ALD_LLM_ABSENT_COUNT ? 0 : sizes->llm->embedding_length;
}

/* Returns the state of the gated delta networks of Qwen3-Next and its successors. */
static uint64_t find_delta(Sizes *sizes)
{
        uint64_t key_heads = require_number(sizes, sizes->text, NAMES("linear_num_key_heads"));
        uint64_t heads = require_number(sizes, sizes->text, NAMES("linear_num_value_heads"));
        uint64_t key = require_number(sizes, sizes->text, NAMES("linear_key_head_dim"));
        uint64_t values = product(heads, require_number(sizes, sizes->text, NAMES("linear_value_head_dim")));
        uint64_t width = sum(product(2, product(key_heads, key)), values);

        return sum(count_convolution(sizes, sizes->text, NAMES("linear_conv_kernel_dim"), width),
                product(values, key));
}

/* Returns the state of Kimi Linear. */
static uint64_t find_kda(Sizes *sizes, json_t *linear)
{
        uint64_t length = require_number(sizes, linear, NAMES("head_dim"));
        uint64_t width = product(length, require_number(sizes, linear, NAMES("num_heads")));

        return sum(
                product(KDA_PARTS, count_convolution(sizes, linear, NAMES("short_conv_kernel_size"), width)),
                product(width, length));
}

/* Returns whether the architecture is a Mamba without attention. */
static bool is_mamba(const Sizes *sizes)
{
        const char *name = sizes->llm->architecture;

        return strcmp(name, "mamba") == 0 || strcmp(name, "falcon_mamba") == 0;
}

static uint64_t find_inner(Sizes *sizes)
{
        const char *name = NULL;
        json_t *expand = ald_hf_find(sizes->text, NAMES("mamba_expand", "expand"), &name);
        uint32_t inner = 0, heads = 0, length = 0;
        double times;

        if (take_number(sizes, sizes->text, NAMES("mamba_d_ssm"), &inner) ||
                (is_mamba(sizes) && take_number(sizes, sizes->text, NAMES("intermediate_size"), &inner)))
                return inner;
        if (take_number(sizes, sizes->text, NAMES("mamba_n_heads", "mamba_num_heads"), &heads) &&
                take_number(sizes, sizes->text, NAMES("mamba_d_head", "mamba_head_dim"), &length))
                return product(heads, length);
        if (expand && !json_is_number(expand))
                refuse_key(sizes, name, "it is not a number");
        times = expand ? json_number_value(expand) : EXPAND_DEFAULT;
        return times > 0 && times < UINT16_MAX ? (uint64_t) ceil(times * width_of(sizes)) : UINT64_MAX;
}

/* Returns whether it is Mamba 1, which alone has a matrix of lower rank for its time steps. */
static bool is_mamba_1(const Sizes *sizes)
{
        return is_mamba(sizes) || json_is_number(json_object_get(sizes->text, "mamba_dt_rank"));
}

/* Returns the state of Mamba. Mamba 1 only convolves its input, Mamba 2 also what leads into the state and
 * out of it. */
static uint64_t find_mamba(Sizes *sizes)
{
        uint64_t size = require_number(sizes, sizes->text,
                NAMES("ssm_state_size", "mamba_d_state", "state_size", "mamba_state_dim"));
        uint64_t inner = find_inner(sizes);
        uint64_t width = inner;
        uint32_t groups = 0;

        /* The number of groups has a default, which the width of the convolution reveals. */
        if (take_number(sizes, sizes->text, NAMES("mamba_n_groups", "n_groups", "mamba_ngroups"), &groups))
                width = sum(inner, product(2 * (uint64_t) groups, size));
        else if (!is_mamba_1(sizes) && sizes->rows != ALD_LLM_ABSENT_COUNT && sizes->rows > inner &&
                 size > 0 && (sizes->rows - inner) % (2 * size) == 0)
                width = sizes->rows;
        return sum(count_convolution(sizes, sizes->text,
                           NAMES("mamba_d_conv", "conv_kernel", "conv_kernel_size"), width),
                product(inner, size));
}

static uint64_t find_rwkv(Sizes *sizes)
{
        return product(width_of(sizes),
                sum(RWKV_SHIFTS, require_number(sizes, sizes->text, NAMES("head_size", "head_dim"))));
}

/* Returns the state of the lightning attention of MiniMax-Text-01, of Ling and Ring, and of MiniCPM-SALA. */
static uint64_t find_lightning(Sizes *sizes)
{
        uint64_t length = require_number(sizes, sizes->text, NAMES("lightning_head_dim", "head_dim"));

        return product(product(length, length),
                require_number(sizes, sizes->text, NAMES("lightning_nh", "num_attention_heads")));
}

/* Keys that show the kind of state, in the order in which they are tried. */
static const char *const state_keys[] = { "linear_num_value_heads", "linear_attn_config", "conv_L_cache",
        "lightning_head_dim", "ssm_state_size", "mamba_d_state", "state_size", "mamba_state_dim" };

const char *ald_hf_state_key(const AldHfKeys *keys)
{
        for (size_t i = 0; i < G_N_ELEMENTS(state_keys); i++) {
                json_t *value = json_object_get(ald_hf_text(keys), state_keys[i]);

                if (value && !json_is_null(value))
                        return state_keys[i];
        }
        return NULL;
}

const char *ald_hf_state_find(const AldHfKeys *keys, const AldLlm *llm, const AldLayerSigns *signs,
        uint64_t *ret, const char **ret_reason)
{
        Sizes sizes = { ald_hf_text(keys), llm, signs->convolution_rows, signs->all_convolution_rows,
                signs->kernel, NULL, NULL };
        const char *key = ald_hf_state_key(keys);

        if (key && strcmp(key, "linear_num_value_heads") == 0)
                *ret = find_delta(&sizes);
        else if (key && strcmp(key, "linear_attn_config") == 0)
                *ret = find_kda(&sizes, json_object_get(sizes.text, key));
        else if (key && strcmp(key, "conv_L_cache") == 0)
                *ret = count_convolution(&sizes, sizes.text, NAMES("conv_L_cache"), width_of(&sizes));
        else if (key && strcmp(key, "lightning_head_dim") == 0)
                *ret = find_lightning(&sizes);
        else if (key)
                *ret = find_mamba(&sizes);
        else if (g_str_has_prefix(llm->architecture, "rwkv"))
                *ret = find_rwkv(&sizes);
        else if (g_str_has_prefix(llm->architecture, "minimax") ||
                 g_str_has_prefix(llm->architecture, "bailing"))
                *ret = find_lightning(&sizes);
        else
                refuse_key(&sizes, "linear_num_value_heads or ssm_state_size", NULL);
        *ret_reason = sizes.reason;
        return sizes.bad;
}
