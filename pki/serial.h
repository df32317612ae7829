/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "pki/types.h"

#define ALD_PKI_SERIAL_SIZE 41 /* at most 20 bytes as hexadecimal digits, and the NUL */

/* A serial as lower-case hexadecimal digits; "" if it is negative or longer than 20 bytes. */
void ald_pki_serial_format(const ASN1_INTEGER *serial, char ret[static ALD_PKI_SERIAL_SIZE]);

/* Parses these digits; NULL if they are not a valid serial. */
ASN1_INTEGER *ald_pki_serial_parse(const char *text);

/* Sets a random serial of 32 digits. */
bool ald_pki_serial_random(ASN1_INTEGER *serial);
