/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/alerts/alerts.h"

/*
 * Alerts as text, so that a restart neither repeats nor loses a notice:
 * {"version": 1, "updated": …, "alerts": [{"finding": {…}, "present": …, "begun": …, "first": …,
 * "changed": …, "flapped": …, "flaps": …}]}.
 */
#define ALD_ALERTS_SAVED_MAX (64u * 1024 * 1024) /* bytes; three times what ALD_ALERTS_MAX may weigh */

/* Returns the text; free with g_free(). */
char *ald_alerts_format(AldAlerts *alerts);

/* Returns -EBADMSG with *ret_error set if the text is invalid, too large or of another version. Fields of a
 * finding that only a newer version knows are dropped. Alerts beyond the limit are dropped as by an update,
 * and ald_alerts_left_out() counts them. */
int ald_alerts_parse(const char *text, size_t n, AldAlerts **ret, char **ret_error);
