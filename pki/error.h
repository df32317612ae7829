/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What OpenSSL's queue of this thread holds, as one line without library names and numbers; the queue is
 * empty then. Never NULL. */
char *ald_pki_take_openssl_error(void);

/* Empties the queue into *ret_error (maybe NULL), as "WHAT: REASON", and returns code. */
int ald_pki_openssl_failed(int code, const char *what, char **ret_error);

/* Sets *ret_error (maybe NULL) and returns code; the queue is emptied and not told. */
int ald_pki_refuse(int code, char **ret_error, const char *format, ...) __attribute__((format(printf, 3, 4)));
