/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "record/id.h"

static int digit(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        if (c >= 'a' && c <= 'f')
                return c - 'a' + 10;
        return -1;
}

int ald_id_parse(const char *string, AldId *ret)
{
        AldId id, zero = { 0 };

        for (unsigned i = 0; i < sizeof id.bytes; i++) {
                int high = digit(string[2 * i]);
                int low = high < 0 ? -1 : digit(string[2 * i + 1]);

                if (low < 0)
                        return -EINVAL;
                id.bytes[i] = (uint8_t) (high << 4 | low);
        }
        if (string[2 * sizeof id.bytes] != '\0' || ald_id_equal(&id, &zero))
                return -EINVAL;
        *ret = id;
        return 0;
}

char *ald_id_format(const AldId *id, char buffer[static ALD_ID_STRING_SIZE])
{
        static const char digits[] = "0123456789abcdef";

        for (unsigned i = 0; i < sizeof id->bytes; i++) {
                buffer[2 * i] = digits[id->bytes[i] >> 4];
                buffer[2 * i + 1] = digits[id->bytes[i] & 15];
        }
        buffer[2 * sizeof id->bytes] = '\0';
        return buffer;
}

bool ald_id_equal(const AldId *a, const AldId *b)
{
        return memcmp(a, b, sizeof *a) == 0;
}

int ald_id_compare(const AldId *a, const AldId *b)
{
        return memcmp(a, b, sizeof *a);
}

unsigned ald_id_table_hash(const void *id)
{
        unsigned hash;

        /* Ids are hashes already. */
        memcpy(&hash, id, sizeof hash);
        return hash;
}

int ald_id_table_equal(const void *a, const void *b)
{
        return ald_id_equal(a, b);
}
