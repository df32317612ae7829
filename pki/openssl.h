/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "pki/types.h"

/* What the files of this folder share for using OpenSSL: its errors, and dates, serials, names and PEM. */

/* Takes the contents of OpenSSL's error queue of this thread, as one line without library names and numbers.
 * Never NULL. */
char *ald_pki_take_openssl_error(void);

/* Empties the queue into *ret_error (may be NULL), as "WHAT: REASON", and returns code. */
int ald_pki_openssl_failed(int code, const char *what, char **ret_error);

/* Sets *ret_error (may be NULL) and returns code; empties the queue without reporting it. */
int ald_pki_refuse(int code, char **ret_error, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Returns a date in µs; 0 if it is unreadable or before 1970. */
uint64_t ald_pki_date_read(const ASN1_TIME *time);

/* Sets the time to `now` plus days and seconds. Returns false if the result is not a date. */
bool ald_pki_date_set(ASN1_TIME *time, uint64_t now, int days, long seconds);

/* Writes a time as "2026-11-21 18:24 UTC". */
char *ald_pki_date_format(uint64_t usec);

/* Writes a serial as lower-case hexadecimal digits; "" if it is negative or longer than 20 bytes. */
void ald_pki_serial_format(const ASN1_INTEGER *serial, char ret[static ALD_PKI_SERIAL_SIZE]);

/* Parses such digits. Returns NULL if they are not a valid serial. */
ASN1_INTEGER *ald_pki_serial_parse(const char *text);

/* Sets a random serial of 32 digits. */
bool ald_pki_serial_random(ASN1_INTEGER *serial);

/* Returns the only value of this kind in a name, as printable text; "" if there is none or several, or it is
 * not printable. */
void ald_pki_name_get(const X509_NAME *name, int nid, char ret[static ALD_PKI_NAME_MAX + 1]);

/* Adds a value to a name. Returns -EINVAL if it is empty, too long or not printable. */
int ald_pki_name_add(X509_NAME *name, int nid, const char *value);

/* Opens PEM text; the BIO reads the caller's memory. Returns -E2BIG beyond max. */
int ald_pki_pem_open(const char *pem, size_t n, size_t max, const char *what, BIO **ret, char **ret_error);

/* Loads a file; free it with g_free(). *ret_error contains its path. */
int ald_pki_pem_load(const char *path, size_t max, char **ret, size_t *ret_n, char **ret_error);

/* Refuses to provide a passphrase, since OpenSSL would ask for it at a terminal. */
int ald_pki_pem_no_passphrase(char *buffer, int size, int writing, void *data);

/* Returns the contents of a memory BIO, as text. Free with g_free(). */
char *ald_pki_pem_text(BIO *bio);
