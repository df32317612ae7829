/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "placement/model/layer-signs.h"
#include "placement/model/model-needs.h"

#define ABSENT ALD_LLM_ABSENT_COUNT

/* Which parts of names show what a tensor is; the first row that matches counts. */
typedef struct SignRow {
        const char *text;
        AldLayerSign sign;
} SignRow;

static const SignRow gguf_rows[] = {
        { "attn_k_norm.", ALD_SIGN_KEY_NORM },
        { "attn_kv_a_mqa.", ALD_SIGN_LATENT },
        { "attn_k.", ALD_SIGN_KEYS },
        { "attn_v.", ALD_SIGN_VALUES },
        { "attn_qkv.", ALD_SIGN_FUSED },
        { "indexer.attn_k.", ALD_SIGN_INDEX },
        { "indexer.", ALD_SIGN_NONE },
        { "ssm_conv1d", ALD_SIGN_CONVOLUTION },
        { "ssm_", ALD_SIGN_STATE },
        { "shortconv.conv.", ALD_SIGN_CONVOLUTION },
        { "shortconv.", ALD_SIGN_STATE },
        { "time_mix_", ALD_SIGN_STATE },
        { "attn_norm", ALD_SIGN_NONE },
        { "attn_post_norm", ALD_SIGN_NONE },
        { "attn_", ALD_SIGN_ATTENDS },
        { "ffn_", ALD_SIGN_NONE },
        { "exp_probs_b", ALD_SIGN_NONE },
        { "channel_mix_", ALD_SIGN_NONE },
        { "nextn.", ALD_SIGN_DRAFTS },
        { "layer_out", ALD_SIGN_NONE },
        { "rope_", ALD_SIGN_NONE },
        { "altup_", ALD_SIGN_NONE },
        { "laurel_", ALD_SIGN_NONE },
        { "per_layer_", ALD_SIGN_NONE },
        { "inp_gate.", ALD_SIGN_NONE },
        { "proj.", ALD_SIGN_NONE },
        { "post_", ALD_SIGN_NONE },
};

/* These texts may be anywhere in a name, since each family has its own prefix. */
static const SignRow safetensors_rows[] = {
        { "indexer.wk.", ALD_SIGN_INDEX },
        { "indexer.", ALD_SIGN_NONE },
        { "self_attn.linear_attn.", ALD_SIGN_NONE }, /* of DeciLM: one matrix in place of attention */
        { "conv1d.", ALD_SIGN_CONVOLUTION },
        { "conv.conv.", ALD_SIGN_CONVOLUTION },
        { "linear_attn.", ALD_SIGN_STATE },
        { "mamba.", ALD_SIGN_STATE },
        { "A_log", ALD_SIGN_STATE },
        { "dt_bias", ALD_SIGN_STATE },
        { "dt_proj", ALD_SIGN_STATE },
        { "conv.", ALD_SIGN_STATE },
        { "time_mix", ALD_SIGN_STATE },
        { "time_decay", ALD_SIGN_STATE },
        { "receptance", ALD_SIGN_STATE },
        { "temporal_block", ALD_SIGN_STATE },
        { "kv_a_proj_with_mqa.", ALD_SIGN_LATENT },
        { "k_norm.", ALD_SIGN_KEY_NORM },
        { "key_layernorm.", ALD_SIGN_KEY_NORM },
        { "k_layernorm.", ALD_SIGN_KEY_NORM },
        { "qkv_proj.", ALD_SIGN_FUSED },
        { "k_proj.", ALD_SIGN_KEYS },
        { "v_proj.", ALD_SIGN_VALUES },
        { "query_key_value.", ALD_SIGN_FUSED },
        { "Wqkv.", ALD_SIGN_FUSED },
        { "wqkv.", ALD_SIGN_FUSED },
        { "c_attn.", ALD_SIGN_FUSED },
        { "W_pack.", ALD_SIGN_FUSED },
        { "norm", ALD_SIGN_NONE },
        { "attn", ALD_SIGN_ATTENDS },
        { "attention", ALD_SIGN_ATTENDS },
        { "mlp", ALD_SIGN_NONE },
        { "feed_forward", ALD_SIGN_NONE },
        { "ffn", ALD_SIGN_NONE },
        { "moe", ALD_SIGN_NONE },
        { "expert", ALD_SIGN_NONE },
        { "router", ALD_SIGN_NONE },
        { "up_proj", ALD_SIGN_NONE },
        { "down_proj", ALD_SIGN_NONE },
        { "gate", ALD_SIGN_NONE },
        { "ln_", ALD_SIGN_NONE },
};

AldLayerSign ald_layer_sign_of_gguf(const char *part)
{
        for (size_t i = 0; i < G_N_ELEMENTS(gguf_rows); i++)
                if (g_str_has_prefix(part, gguf_rows[i].text))
                        return gguf_rows[i].sign;
        return strstr(part, "norm") ? ALD_SIGN_NONE : ALD_SIGN_OTHER;
}

AldLayerSign ald_layer_sign_of_safetensors(const char *part)
{
        for (size_t i = 0; i < G_N_ELEMENTS(safetensors_rows); i++)
                if (strstr(part, safetensors_rows[i].text))
                        return safetensors_rows[i].sign;
        return ALD_SIGN_OTHER;
}

AldLayerSigns *ald_layer_signs_new(uint32_t n_layers)
{
        AldLayerSigns *signs = g_new0(AldLayerSigns, n_layers);

        for (uint32_t i = 0; i < n_layers; i++) {
                signs[i].key_rows = ABSENT;
                signs[i].value_rows = ABSENT;
                signs[i].fused_rows = ABSENT;
                signs[i].latent_rows = ABSENT;
                signs[i].index_rows = ABSENT;
                signs[i].key_norm = ABSENT;
                signs[i].convolution_rows = ABSENT;
                signs[i].all_convolution_rows = ABSENT;
                signs[i].attentions = g_ptr_array_new_with_free_func(g_free);
        }
        return signs;
}

void ald_layer_signs_free(AldLayerSigns *signs, uint32_t n_layers)
{
        for (uint32_t i = 0; signs && i < n_layers; i++) {
                g_free(signs[i].fused);
                g_free(signs[i].state);
                g_free(signs[i].other);
                g_ptr_array_unref(signs[i].attentions);
        }
        g_free(signs);
}

static void keep_first(char **name, const char *of)
{
        if (!*name)
                *name = g_strdup(of);
}

/* Keeps the most rows that any tensor of the kind has; a weight and its bias have equally many. */
static void keep_most(uint32_t *most, uint32_t rows)
{
        if (rows != ABSENT && (*most == ABSENT || rows > *most))
                *most = rows;
}

static void add_rows(uint32_t *all, uint32_t rows)
{
        if (*all == ABSENT)
                *all = rows;
        else if (rows == ABSENT || __builtin_add_overflow(*all, rows, all))
                *all = ABSENT;
}

/* Notes the part of the name before its projection, unless it is known already. */
static void note_attention(AldLayerSigns *signs, const char *name)
{
        static const char *const projections[] = { "kv_a_proj_with_mqa.", "k_proj." };
        const char *end = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(projections) && !end; i++)
                end = strstr(name, projections[i]);
        for (guint i = 0; end && i < signs->attentions->len; i++) {
                const char *known = signs->attentions->pdata[i];

                if (strlen(known) == (size_t) (end - name) && strncmp(known, name, strlen(known)) == 0)
                        return;
        }
        if (end)
                g_ptr_array_add(signs->attentions, g_strndup(name, (gsize) (end - name)));
}

void ald_layer_signs_note(AldLayerSigns *signs, AldLayerSign sign, const char *name, uint32_t rows)
{
        switch (sign) {
        case ALD_SIGN_KEYS:
                signs->projects = true;
                note_attention(signs, name);
                keep_most(&signs->key_rows, rows);
                break;
        case ALD_SIGN_VALUES:
                signs->projects = true;
                keep_most(&signs->value_rows, rows);
                break;
        case ALD_SIGN_LATENT:
                signs->projects = true;
                note_attention(signs, name);
                keep_most(&signs->latent_rows, rows);
                break;
        case ALD_SIGN_INDEX:
                keep_most(&signs->index_rows, rows);
                break;
        case ALD_SIGN_KEY_NORM:
                keep_most(&signs->key_norm, rows);
                break;
        case ALD_SIGN_FUSED:
                keep_first(&signs->fused, name);
                keep_most(&signs->fused_rows, rows);
                break;
        case ALD_SIGN_ATTENDS:
                signs->attends = true;
                break;
        case ALD_SIGN_CONVOLUTION:
                keep_first(&signs->state, name);
                keep_most(&signs->convolution_rows, rows);
                if (!g_str_has_suffix(name, ".bias"))
                        add_rows(&signs->all_convolution_rows, rows);
                break;
        case ALD_SIGN_DRAFTS:
                signs->drafts = true;
                break;
        case ALD_SIGN_STATE:
                keep_first(&signs->state, name);
                break;
        case ALD_SIGN_OTHER:
                keep_first(&signs->other, name);
                break;
        case ALD_SIGN_NONE:
                break;
        }
}
