/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <math.h>
#include <string.h>

#include "record/json-scan.h"
#include "record/json.h"

/* A double always holds this many decimal digits, and powers of ten up to this one, exactly. */
#define DIGITS_EXACT 15u
#define POWER_EXACT 22

int ald_scan_fail(AldScan *scan, const char *problem)
{
        scan->problem = problem;
        return -EBADMSG;
}

char ald_scan_peek(AldScan *scan)
{
        while (scan->at < scan->end &&
                (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\t' || *scan->at == '\r'))
                scan->at++;
        return scan->at < scan->end ? *scan->at : '\0';
}

int ald_scan_enter(AldScan *scan, AldScanGroup *ret)
{
        char close = ald_scan_peek(scan) == '{' ? '}' : ']';

        scan->at++;
        if (++scan->depth > ALD_JSON_MAX_DEPTH)
                return ald_scan_fail(scan, "nested too deep");
        *ret = (AldScanGroup){ .close = close };
        return 0;
}

int ald_scan_next(AldScan *scan, AldScanGroup *group)
{
        char c = ald_scan_peek(scan);

        if (c == group->close) {
                scan->at++;
                scan->depth--;
                return 0;
        }
        if (group->begun && c != ',')
                return ald_scan_fail(scan, "a comma or an end is missing");
        scan->at += group->begun;
        group->begun = true;
        return 1;
}

static int read_hex4(const char **at, const char *end, gunichar *ret)
{
        gunichar c = 0;

        if (end - *at < 4)
                return -EBADMSG;
        for (unsigned i = 0; i < 4; i++) {
                int digit = g_ascii_xdigit_value(*(*at)++);

                if (digit < 0)
                        return -EBADMSG;
                c = c << 4 | (gunichar) digit;
        }
        *ret = c;
        return 0;
}

/* Decodes the digits after "\u"; a character beyond 16 bits comes as two such escapes. */
static int decode_unicode(const char **at, const char *end, char **to)
{
        gunichar c, low;

        if (read_hex4(at, end, &c) < 0 || (c >= 0xdc00 && c <= 0xdfff))
                return -EBADMSG;
        if (c >= 0xd800 && c <= 0xdbff) {
                if (end - *at < 2 || (*at)[0] != '\\' || (*at)[1] != 'u')
                        return -EBADMSG;
                *at += 2;
                if (read_hex4(at, end, &low) < 0 || low < 0xdc00 || low > 0xdfff)
                        return -EBADMSG;
                c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        }
        *to += g_unichar_to_utf8(c, *to);
        return 0;
}

static int decode_escapes(AldScan *scan, const char *at, const char *end, char **to)
{
        static const char escaped[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";

        while (at < end) {
                const char *known;

                if (*at != '\\') {
                        *(*to)++ = *at++;
                        continue;
                }
                at++;
                known = memchr(escaped, *at, sizeof escaped - 1);
                if (!known && *at != 'u')
                        return ald_scan_fail(scan, "a string with an unknown escape");
                if (known)
                        *(*to)++ = meant[known - escaped];
                at++;
                if (!known && end - at >= 4 && memcmp(at, "0000", 4) == 0)
                        return ald_scan_fail(scan, "a NUL in a string");
                if (!known && decode_unicode(&at, end, to) < 0)
                        return ald_scan_fail(scan, "a string with half a surrogate pair");
        }
        return 0;
}

/* Finds the end of the string that begins here. Sets *ret_escaped if it has an escape. */
static int find_quote(AldScan *scan, const char **ret, bool *ret_escaped, bool *ret_plain)
{
        unsigned char all = 0;
        bool escaped = false, has_delete = false;
        const char *at;

        for (at = scan->at; at < scan->end && *at != '"' && (unsigned char) *at >= ' '; at++) {
                all |= (unsigned char) *at;
                has_delete |= *at == 0x7f;
                if (*at != '\\')
                        continue;
                escaped = true;
                if (++at == scan->end)
                        break;
        }
        if (at == scan->end || *at != '"')
                return ald_scan_fail(scan, "a string with a control character, or without end");
        if (all >= 0x80 && !g_utf8_validate(scan->at, at - scan->at, NULL))
                return ald_scan_fail(scan, "a string that is not UTF-8");
        *ret = at;
        *ret_escaped = escaped;
        *ret_plain = !escaped && !has_delete && all < 0x80;
        return 0;
}

int ald_scan_string(AldScan *scan, AldScanString *ret)
{
        char *to = scan->room;
        const char *end = NULL;
        bool escaped = false, plain = false;
        int r = 0;

        if (ald_scan_peek(scan) != '"')
                return ald_scan_fail(scan, "a string is missing");
        scan->at++;
        r = find_quote(scan, &end, &escaped, &plain);
        if (r >= 0 && escaped)
                r = decode_escapes(scan, scan->at, end, &to);
        else if (r >= 0)
                to = mempcpy(to, scan->at, (size_t) (end - scan->at));
        if (r < 0)
                return r;
        *to = '\0';
        *ret = (AldScanString){ scan->room, (size_t) (to - scan->room), plain };
        scan->room = to + 1;
        scan->at = end + 1;
        return 0;
}

int ald_scan_key(AldScan *scan, AldScanString *ret)
{
        AldScanString key;
        int r = ald_scan_string(scan, &key);

        if (r < 0)
                return r;
        if (ald_scan_peek(scan) != ':')
                return ald_scan_fail(scan, "a key without a value");
        scan->at++;
        *ret = key;
        return 0;
}

static unsigned skip_digits(AldScan *scan, uint64_t *mantissa)
{
        const char *start = scan->at;

        for (; scan->at < scan->end && g_ascii_isdigit(*scan->at); scan->at++)
                *mantissa = *mantissa * 10 + (uint64_t) (*scan->at - '0');
        return (unsigned) (scan->at - start);
}

static bool accept_one_of(AldScan *scan, const char *one_of)
{
        if (scan->at == scan->end || !*scan->at || !strchr(one_of, *scan->at))
                return false;
        scan->at++;
        return true;
}

/* Few digits and a small power are exact in a double, and their product is correctly rounded; strtod()
 * converts all other numbers. */
static double to_real(const char *start, const char *end, uint64_t mantissa, unsigned digits, int power)
{
        static const double powers[POWER_EXACT + 1] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
                1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
        g_autofree char *copy = NULL;
        double real;

        if (digits > DIGITS_EXACT || power < -POWER_EXACT || power > POWER_EXACT) {
                copy = g_strndup(start, (gsize) (end - start));
                return g_ascii_strtod(copy, NULL);
        }
        real = power < 0 ? (double) mantissa / powers[-power] : (double) mantissa * powers[power];
        return *start == '-' ? -real : real;
}

static int to_integer(AldScan *scan, bool negative, uint64_t value, unsigned digits, AldScanNumber *ret)
{
        if (digits > 19 || value > (uint64_t) INT64_MAX + negative) /* any 19 digits fit into 64 bits */
                return ald_scan_fail(scan, "an integer that is too big");
        ret->is_real = false;
        ret->integer = (int64_t) (negative ? 0 - value : value);
        ret->real = (double) ret->integer;
        return 0;
}

/* Reads the exponent after an "e". Exponents beyond any double are cut to one that is still beyond it. */
static int read_power(AldScan *scan, int *power)
{
        bool negative = accept_one_of(scan, "-") || (accept_one_of(scan, "+") && false);
        uint64_t value = 0;
        unsigned digits = skip_digits(scan, &value);

        if (digits == 0)
                return -EBADMSG;
        value = digits > 9 ? 100000 : MIN(value, 100000);
        *power += negative ? -(int) value : (int) value;
        return 0;
}

int ald_scan_number(AldScan *scan, AldScanNumber *ret)
{
        const char *start = (ald_scan_peek(scan), scan->at);
        bool negative = accept_one_of(scan, "-"), is_real = false,
             zero = scan->at < scan->end && *scan->at == '0';
        uint64_t mantissa = 0;
        unsigned digits = skip_digits(scan, &mantissa), more;
        int power = 0;
        double real;

        if (digits == 0 || (zero && digits > 1))
                return ald_scan_fail(scan, "not a number");
        if (accept_one_of(scan, ".")) {
                is_real = true;
                more = skip_digits(scan, &mantissa);
                if (more == 0)
                        return ald_scan_fail(scan, "not a number");
                digits += more;
                power = -(int) MIN(more, 100000);
        }
        if (accept_one_of(scan, "eE")) {
                is_real = true;
                if (read_power(scan, &power) < 0)
                        return ald_scan_fail(scan, "not a number");
        }
        if (!is_real)
                return to_integer(scan, negative, mantissa, digits, ret);
        real = to_real(start, scan->at, mantissa, digits, power);
        if (!isfinite(real))
                return ald_scan_fail(scan, "a number that is too big");
        *ret = (AldScanNumber){ .is_real = true, .real = real };
        return 0;
}

static int scan_word(AldScan *scan, const char *word)
{
        size_t n = strlen(word);

        if ((size_t) (scan->end - scan->at) < n || memcmp(scan->at, word, n) != 0)
                return ald_scan_fail(scan, "a value is missing");
        scan->at += n;
        return 0;
}

int ald_scan_boolean(AldScan *scan, bool *ret)
{
        bool truth = ald_scan_peek(scan) == 't';
        int r = scan_word(scan, truth ? "true" : "false");

        if (r >= 0)
                *ret = truth;
        return r;
}

int ald_scan_note_key(AldScan *scan, GHashTable **keys, const char *key)
{
        if (!*keys)
                *keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        if (!g_hash_table_add(*keys, g_strdup(key)))
                return ald_scan_fail(scan, "a duplicate key");
        return g_hash_table_size(*keys) > ALD_SCAN_KEYS_MAX ? ald_scan_fail(scan, "too many unknown keys")
                                                            : 0;
}

static int skip_group(AldScan *scan)
{
        g_autoptr(GHashTable) keys = NULL;
        AldScanString key;
        AldScanGroup group;
        int r;

        r = ald_scan_enter(scan, &group);
        while (r >= 0 && (r = ald_scan_next(scan, &group)) > 0) {
                if (group.close == '}')
                        r = ald_scan_key(scan, &key);
                if (r >= 0 && group.close == '}')
                        r = ald_scan_note_key(scan, &keys, key.bytes);
                if (r >= 0)
                        r = ald_scan_skip(scan);
        }
        return r;
}

int ald_scan_skip(AldScan *scan)
{
        char *room = scan->room, c = ald_scan_peek(scan);
        AldScanString string;
        AldScanNumber number;
        int r;

        if (c == '{' || c == '[')
                r = skip_group(scan);
        else if (c == '"')
                r = ald_scan_string(scan, &string);
        else if (c == 't' || c == 'f' || c == 'n')
                r = scan_word(scan, c == 't' ? "true" : c == 'f' ? "false" : "null");
        else
                r = ald_scan_number(scan, &number);
        scan->room = room;
        return r;
}

int ald_scan_finish(AldScan *scan)
{
        return ald_scan_peek(scan) == '\0' && scan->at == scan->end
                       ? 0
                       : ald_scan_fail(scan, "more than one value");
}
