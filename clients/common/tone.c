/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>
#include <string.h>

#include "clients/common/safe-text.h"
#include "clients/common/tone.h"

static bool is_known(const char *text)
{
        return text && text[0] && strcmp(text, ALD_ABSENT_TEXT) != 0;
}

static void fact_free(void *data)
{
        AldFact *fact = data;

        g_free(fact->text);
        g_free(fact);
}

GPtrArray *ald_facts_new(void)
{
        return g_ptr_array_new_with_free_func(fact_free);
}

void ald_facts_add_toned(GPtrArray *facts, const char *label, char *text, AldTone tone)
{
        AldFact *fact = g_new(AldFact, 1);

        if (!is_known(text))
                g_clear_pointer(&text, g_free);
        *fact = (AldFact){ label, text, tone };
        g_ptr_array_add(facts, fact);
}

void ald_facts_add(GPtrArray *facts, const char *label, char *text)
{
        ald_facts_add_toned(facts, label, text, ALD_TONE_PLAIN);
}

void ald_facts_add_known(GPtrArray *facts, const char *label, char *text)
{
        if (is_known(text))
                ald_facts_add(facts, label, text);
        else
                g_free(text);
}

void ald_parts_add(GString *parts, const char *format, char *part)
{
        if (is_known(part)) {
                if (parts->len > 0)
                        g_string_append(parts, ", ");
                g_string_append_printf(parts, format, part);
        }
        g_free(part);
}

void ald_parts_add_text(GString *parts, const char *format, const char *text)
{
        ald_parts_add(parts, format, ald_text_safe_or_null(text));
}
