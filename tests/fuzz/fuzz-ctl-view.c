/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>

#include "clients/alidadectl/text/describe.h"
#include "clients/alidadectl/watch/view.h"
#include "clients/command-line/terminal-text.h"
#include "clients/common/columns/finding-columns.h"
#include "record/character.h"
#include "tests/unit/model-maker.h"

#define NOW 1.7e15
#define COLUMNS 60

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* {"Nodes": {id: {kind: fields}}, "Totals": fields, "Findings": rows}, whatever is in there. */
static AldModel *model_from(json_t *object)
{
        json_t *findings = json_object_get(object, "Findings"), *totals = json_object_get(object, "Totals");
        AldModel *model = ald_model_new();
        const char *id, *kind;
        json_t *node, *fields;

        json_object_foreach(json_object_get(object, "Nodes"), id, node) {
                json_object_foreach(node, kind, fields) {
                        if (json_is_object(fields))
                                (void) model_put_json(model, id, kind, fields);
                }
        }
        if (json_is_object(totals))
                ald_model_update_totals(model, totals, NULL);
        if (json_is_array(findings))
                model_set_findings(model, findings);
        return model;
}

static void check_harmless(const char *text)
{
        g_assert_true(g_utf8_validate(text, -1, NULL));
        for (const char *p = text; *p; p = g_utf8_next_char(p)) {
                gunichar c = g_utf8_get_char(p);

                g_assert_true(c == '\n' || (c > 0 && c < ALD_N_STYLES) || !ald_character_is_unsafe(c));
        }
}

static void check_view(AldModel *model)
{
        AldView view = { .model = model, .now_usec = NOW, .columns = COLUMNS, .rows = 30 };
        g_autoptr(GPtrArray) lines = ald_view_lines(&view);

        for (guint i = 0; i < lines->len; i++) {
                check_harmless(lines->pdata[i]);
                g_assert_cmpuint(ald_text_width(lines->pdata[i]), <=, COLUMNS);
        }
}

static void check_words(AldModel *model)
{
        const GPtrArray *nodes = ald_model_nodes(model);
        g_autoptr(GArray) rows = ald_finding_list_rows(model, NULL, NULL, NULL);
        g_autoptr(GString) out = g_string_new(NULL);

        for (guint i = 0; i < nodes->len; i++) {
                ald_describe_node(out, model, nodes->pdata[i], COLUMNS, NOW);
                ald_describe_records(out, nodes->pdata[i], nodes->pdata[i], COLUMNS, NOW);
        }
        ald_describe_cluster(out, model, COLUMNS);
        ald_describe_findings(out, rows, COLUMNS);
        check_harmless(out->str);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        json_t *object = json_loadb((const char *) data, size, JSON_ALLOW_NUL, NULL);
        g_autoptr(AldModel) model = model_from(object);

        check_view(model);
        check_words(model);
        json_decref(object);
        return 0;
}
