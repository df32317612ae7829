/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "state/alerts/silence.h"

/* Returns whether a finding is about both nodes of a link, and nothing else. */
static bool is_about_link(const AldFindingRow *finding)
{
        const char *slower = ald_finding_row_id_to_string(ALD_FINDING_ROW_ID_SLOWER_THAN_PAST);

        return finding->id && g_strv_length((char **) finding->nodes) == 2 &&
               (g_str_has_prefix(finding->id, "link-") || strcmp(finding->id, slower) == 0);
}

bool ald_silence_covers(const AldSilenceRow *silence, const AldFindingRow *finding)
{
        if (!silence->node || !finding->nodes || !g_strv_contains(finding->nodes, silence->node))
                return false;
        return !silence->peer || (is_about_link(finding) && g_strv_contains(finding->nodes, silence->peer));
}
