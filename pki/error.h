/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Takes the contents of OpenSSL's error queue of this thread, as one line without library names and numbers.
 * Never NULL. */
char *ald_pki_take_openssl_error(void);

/* Empties the queue into *ret_error (may be NULL), as "WHAT: REASON", and returns code. */
int ald_pki_openssl_failed(int code, const char *what, char **ret_error);

/* Sets *ret_error (may be NULL) and returns code; empties the queue without reporting it. */
int ald_pki_refuse(int code, char **ret_error, const char *format, ...) __attribute__((format(printf, 3, 4)));
