/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the value of an alert means, where we received or sent it; NULL where it tells nothing, as a close
 * does. */
char *ald_tls_alert_received(const char *peer, int value);
char *ald_tls_alert_sent(const char *peer, int value);

/* The same, of either direction, where both sides have a key instead of certificates. */
char *ald_tls_alert_by_key(int value);
