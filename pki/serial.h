/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "pki/certificate.h"

/* A serial as lower-case hexadecimal digits; "" for what is negative or beyond 20 bytes. */
void ald_pki_serial_format(const ASN1_INTEGER *serial, char ret[static ALD_PKI_SERIAL_SIZE]);

/* The other way round; NULL for what is no serial. */
ASN1_INTEGER *ald_pki_serial_parse(const char *text);

/* A random one of 32 digits. */
bool ald_pki_serial_random(ASN1_INTEGER *serial);
