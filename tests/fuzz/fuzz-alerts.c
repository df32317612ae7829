/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/alerts/alerts-saved.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All that has begun ends once nothing was found for the longest delay. */
static void check_end(AldAlerts *alerts)
{
        g_autoptr(GPtrArray) none = g_ptr_array_new(), begun = ald_alerts_begun(alerts);
        guint ends = 0;

        for (unsigned i = 0; i < 2; i++) {
                g_autoptr(GArray) notices = ald_alerts_update(
                        alerts, none, NULL, (uint64_t) ALD_INTEGER_MAX + i * ALD_ALERT_DELAY_MAX_USEC);

                ends += notices->len;
        }
        g_assert_cmpuint(ends, ==, begun->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autoptr(AldAlerts) alerts = NULL, again = NULL;
        g_autofree char *reason = NULL, *text = NULL;

        if (ald_alerts_parse((const char *) data, size, &alerts, &reason) < 0) {
                g_assert_nonnull(reason);
                return 0;
        }
        text = ald_alerts_format(alerts);
        g_assert_cmpint(ald_alerts_parse(text, strlen(text), &again, NULL), ==, 0);
        check_end(alerts);
        return 0;
}
