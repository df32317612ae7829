/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Describes an alert that was received or sent; NULL if there is nothing to report, as for a close. */
char *ald_tls_alert_received(const char *peer, int value);
char *ald_tls_alert_sent(const char *peer, int value);

/* The same in either direction, if both sides have a key instead of certificates. */
char *ald_tls_alert_by_key(int value);
