/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "pki/serial.h"

void ald_pki_serial_format(const ASN1_INTEGER *serial, char ret[static ALD_PKI_SERIAL_SIZE])
{
        const unsigned char *bytes = ASN1_STRING_get0_data(serial);
        size_t n = (size_t) ASN1_STRING_length(serial);

        ret[0] = '\0';
        if (ASN1_STRING_type(serial) != V_ASN1_INTEGER || 2 * n >= ALD_PKI_SERIAL_SIZE)
                return;
        for (size_t i = 0; i < n; i++)
                g_snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

ASN1_INTEGER *ald_pki_serial_parse(const char *text)
{
        size_t n = strspn(text, "0123456789abcdef");
        ASN1_INTEGER *serial = NULL;
        BIGNUM *number = NULL;

        if (n == 0 || n >= ALD_PKI_SERIAL_SIZE || text[n] != '\0')
                return NULL;
        if (BN_hex2bn(&number, text))
                serial = BN_to_ASN1_INTEGER(number, NULL);
        BN_free(number);
        return serial;
}

bool ald_pki_serial_random(ASN1_INTEGER *serial)
{
        BIGNUM *number = BN_new();
        /* 127 bits, of which the first is 1: never negative, and always of the same length. */
        bool ok = number && BN_rand(number, 127, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) &&
                  BN_to_ASN1_INTEGER(number, serial);

        BN_free(number);
        return ok;
}
