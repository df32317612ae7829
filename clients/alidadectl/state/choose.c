/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "clients/alidadectl/state/choose.h"
#include "clients/command-line/print.h"
#include "clients/common/node-name.h"

#define CANDIDATES_SHOWN 10u

static void complain_about(const char *what, int r, const GPtrArray *candidates)
{
        if (r != -ENOTUNIQ) {
                ald_complain("No node is called \"%s\"", what);
                return;
        }
        ald_complain("Several nodes are called \"%s\"; give more of the id:", what);
        for (guint i = 0; i < MIN(candidates->len, CANDIDATES_SHOWN); i++) {
                const AldEntity *node = candidates->pdata[i];
                g_autofree char *label = ald_entity_label(node);

                ald_complain("  %s %s", node->id, label);
        }
        if (candidates->len > CANDIDATES_SHOWN)
                ald_complain("  and %u more", candidates->len - CANDIDATES_SHOWN);
}

int ald_choose_node(AldModel *model, const char *what, const AldEntity **ret)
{
        g_autoptr(GPtrArray) candidates = g_ptr_array_new();
        int r;

        r = ald_model_find(model, what, ret, candidates);
        if (r >= 0)
                return ALD_EXIT_OK;
        complain_about(what, r, candidates);
        return ALD_EXIT_NO_NODE;
}
