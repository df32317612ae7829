/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/types.h"

/* Opens PEM text; the BIO reads the caller's memory. -E2BIG beyond max. */
int ald_pki_pem_open(const char *pem, size_t n, size_t max, const char *what, BIO **ret, char **ret_error);

/* Loads a file; free it with g_free(). *ret_error contains its path. */
int ald_pki_pem_load(const char *path, size_t max, char **ret, size_t *ret_n, char **ret_error);

/* Never asks at a terminal for a passphrase, as OpenSSL would. */
int ald_pki_pem_no_passphrase(char *buffer, int size, int writing, void *data);

/* The contents of a memory BIO, as text. */
char *ald_pki_pem_text(BIO *bio);
