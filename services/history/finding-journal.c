/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include <systemd/sd-journal.h>

#include "services/history/finding-journal.h"

/* Those of alidade.catalog. */
#define BEGAN_ID "32ffbc4600154493b697fe2f79dd0889"
#define ENDED_ID "f032c19fad214e7685d23bcbe3be724f"

#define PRIORITY_ENDED 5 /* notice */

/* The names of syslog(3). */
static int priority_of(const AldFindingNotice *notice)
{
        static const int priorities[ALD_FINDING_ROW_SEVERITY_N] = {
                [ALD_FINDING_ROW_SEVERITY_ERROR] = 3,
                [ALD_FINDING_ROW_SEVERITY_WARNING] = 4,
                [ALD_FINDING_ROW_SEVERITY_NOTICE] = 5,
        };
        int severity = ald_finding_row_severity_from_string(notice->row->severity);

        return !notice->begins || severity < 0 ? PRIORITY_ENDED : priorities[severity];
}

static char *join(const char *separator, const char *const *words)
{
        return words ? g_strjoinv(separator, (char **) words) : g_strdup("");
}

/* With numbers that are absent as empty text. */
static char *number(uint64_t value)
{
        return value == ALD_ABSENT_UINT64 ? g_strdup("") : g_strdup_printf("%" PRIu64, value);
}

void ald_finding_journal_write(const AldFindingNotice *notice)
{
        const AldFindingRow *row = notice->row;
        const char *text = row->text ? row->text : row->id;
        g_autofree char *nodes = join(" ", row->nodes), *names = join(", ", row->names);
        g_autofree char *event = number(notice->event), *began = number(notice->began_usec);
        g_autofree char *ended = number(notice->ended_usec);
        int r;

        r = sd_journal_send("MESSAGE_ID=%s", notice->begins ? BEGAN_ID : ENDED_ID, "PRIORITY=%d",
                priority_of(notice), "MESSAGE=%s%s", notice->begins ? "" : "Over: ", text,
                "ALIDADE_FINDING=%s", row->id, "ALIDADE_TEXT=%s", text, "ALIDADE_REMEDY=%s",
                row->remedy ? row->remedy : "There is no general remedy.", "ALIDADE_NODES=%s", nodes,
                "ALIDADE_NAMES=%s", names, "ALIDADE_EVENT=%s", event, "ALIDADE_SYMPTOMS=%u", notice->symptoms,
                "ALIDADE_BEGAN_USEC=%s", began, "ALIDADE_ENDED_USEC=%s", ended, NULL);
        if (r < 0)
                g_debug("Cannot write to the journal: %s", g_strerror(-r));
}
