/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "record/id.h"

/* The value of a digit plus 1, or 0 for any other byte. It is a table, since the digits of ids follow no
 * pattern that a branch predictor could learn. */
static const uint8_t digit_values[UINT8_MAX + 1] = {
        ['0'] = 1,
        ['1'] = 2,
        ['2'] = 3,
        ['3'] = 4,
        ['4'] = 5,
        ['5'] = 6,
        ['6'] = 7,
        ['7'] = 8,
        ['8'] = 9,
        ['9'] = 10,
        ['a'] = 11,
        ['b'] = 12,
        ['c'] = 13,
        ['d'] = 14,
        ['e'] = 15,
        ['f'] = 16,
};

int ald_id_parse(const char *string, AldId *ret)
{
        const uint8_t *text = (const uint8_t *) string;
        AldId id, zero = { 0 };
        unsigned all = 0;

        if (strnlen(string, ALD_ID_STRING_SIZE) != ALD_ID_STRING_SIZE - 1)
                return -EINVAL;
        for (unsigned i = 0; i < sizeof id.bytes; i++) {
                unsigned high = digit_values[text[2 * i]] - 1u, low = digit_values[text[2 * i + 1]] - 1u;

                all |= high | low;
                id.bytes[i] = (uint8_t) (high << 4 | low);
        }
        if (all > 15 || ald_id_equal(&id, &zero))
                return -EINVAL;
        *ret = id;
        return 0;
}

bool ald_id_reads_like(const char *word)
{
        size_t n = strspn(word, "0123456789abcdef");

        return n >= ALD_SHORT_ID_DIGITS && n < ALD_ID_STRING_SIZE && word[n] == '\0';
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
        uint64_t halves[2];

        /* Most ids are hashes already, but a peer may choose its own. */
        memcpy(halves, id, sizeof halves);
        return (unsigned) (((halves[0] ^ halves[1]) * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

int ald_id_table_equal(const void *a, const void *b)
{
        return ald_id_equal(a, b);
}
