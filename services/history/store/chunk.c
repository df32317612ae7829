/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "services/history/store/chunk.h"
#include "services/history/store/varint.h"

#define FORMAT 1u
#define DECIMALS_MAX 9u
#define AS_DOUBLES 255u /* in place of the number of decimals */
/* Beyond this, not every integer is representable as a double. */
#define INTEGER_MAX (INT64_C(1) << 53)

static const double powers[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9 };

AldChunk *ald_chunk_new(size_t n_rows, size_t n_columns)
{
        AldChunk *chunk = g_new0(AldChunk, 1);

        g_assert(n_columns <= ALD_CHUNK_COLUMNS_MAX);
        chunk->n_rows = n_rows;
        chunk->n_columns = n_columns;
        chunk->times = g_new0(int64_t, n_rows);
        for (size_t i = 0; i < n_columns; i++)
                chunk->columns[i] = g_new0(double, n_rows);
        return chunk;
}

void ald_chunk_free(AldChunk *chunk)
{
        if (!chunk)
                return;
        g_free(chunk->times);
        for (size_t i = 0; i < chunk->n_columns; i++)
                g_free(chunk->columns[i]);
        g_free(chunk);
}

static bool is_regular(const int64_t *times, size_t n)
{
        for (size_t i = 2; i < n; i++)
                if (times[i] - times[i - 1] != times[1] - times[0])
                        return false;
        return true;
}

/* Appends the differences. Differences of differences would be twice as noisy, and compress worse. */
static void append_times(GByteArray *bytes, const int64_t *times, size_t n)
{
        bool regular = is_regular(times, n);

        ald_varint_append(bytes, (uint64_t) times[0]);
        if (n > 1)
                ald_varint_append(bytes, (uint64_t) (times[1] - times[0]) << 1 | regular);
        for (size_t i = 2; i < n && !regular; i++)
                ald_varint_append(bytes, (uint64_t) (times[i] - times[i - 1]));
}

static void read_times(AldBytes *bytes, int64_t *times, size_t n)
{
        uint64_t time = ald_varint_read(bytes), first = n > 1 ? ald_varint_read(bytes) : 0;
        const bool regular = first & 1;
        uint64_t step = first >> 1;

        for (size_t i = 0; i < n; i++) {
                if (i > 1 && !regular)
                        step = ald_varint_read(bytes);
                if (i > 0 && (step == 0 || step > (uint64_t) ALD_CHUNK_TIME_MAX))
                        bytes->bad = true;
                time += i > 0 ? step : 0;
                if (time > (uint64_t) ALD_CHUNK_TIME_MAX)
                        bytes->bad = true;
                if (bytes->bad)
                        return;
                times[i] = (int64_t) time;
        }
}

/* Returns which values are known. Gaps are stored as the lengths of alternating runs of known and unknown
 * values, without the last run. */

static bool *find_known(const double *values, size_t n, size_t *ret_n_known)
{
        bool *known = g_new(bool, n);
        size_t n_known = 0;

        for (size_t i = 0; i < n; i++)
                n_known += known[i] = !isnan(values[i]);
        *ret_n_known = n_known;
        return known;
}

static void append_gaps(GByteArray *bytes, const bool *known, size_t n)
{
        bool now = true;
        size_t begin = 0;

        for (size_t i = 0; i < n; i++)
                if (known[i] != now) {
                        ald_varint_append(bytes, i - begin + 1);
                        begin = i;
                        now = !now;
                }
        ald_varint_append(bytes, 0);
}

static bool *read_gaps(AldBytes *bytes, size_t n, size_t *ret_n_known)
{
        g_autofree bool *known = g_new(bool, n);
        size_t at = 0, n_known = 0;
        bool now = true;
        uint64_t run;

        while ((run = ald_varint_read(bytes)) > 0) {
                /* Only the first run may be empty. */
                if (run - 1 >= n - at || (run == 1 && (at > 0 || !now))) {
                        bytes->bad = true;
                        return NULL;
                }
                for (uint64_t i = 0; i < run - 1; i++)
                        known[at++] = now;
                n_known += now ? run - 1 : 0;
                now = !now;
        }
        if (bytes->bad)
                return NULL;
        n_known += now ? n - at : 0;
        while (at < n)
                known[at++] = now;
        *ret_n_known = n_known;
        return g_steal_pointer(&known);
}

static bool has_same_bits(double a, double b)
{
        return memcmp(&a, &b, sizeof a) == 0;
}

static bool scale_to_integers(const double *values, size_t n, unsigned decimals, int64_t *scaled)
{
        for (size_t i = 0; i < n; i++) {
                double integer = round(values[i] * powers[decimals]);

                if (!(fabs(integer) <= (double) INTEGER_MAX))
                        return false;
                scaled[i] = (int64_t) integer;
                if (!has_same_bits((double) scaled[i] / powers[decimals], values[i]))
                        return false;
        }
        return true;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
        while (b != 0) {
                uint64_t rest = a % b;

                a = b;
                b = rest;
        }
        return a;
}

static void append_integers(GByteArray *bytes, const int64_t *values, size_t n)
{
        uint64_t divisor = 0;

        for (size_t i = 1; i < n && divisor != 1; i++)
                divisor = common_divisor((uint64_t) llabs(values[i] - values[i - 1]), divisor);
        ald_varint_append_signed(bytes, values[0]);
        ald_varint_append(bytes, divisor);
        for (size_t i = 1; i < n && divisor > 0; i++)
                ald_varint_append_signed(bytes, (values[i] - values[i - 1]) / (int64_t) divisor);
}

static void read_integers(AldBytes *bytes, double *values, size_t n, unsigned decimals)
{
        int64_t value = ald_varint_read_signed(bytes), difference = 0;
        uint64_t divisor = ald_varint_read(bytes);

        if (divisor > 2 * (uint64_t) INTEGER_MAX)
                bytes->bad = true;
        for (size_t i = 0; i < n && !bytes->bad; i++) {
                if (i > 0 && divisor > 0 &&
                        (__builtin_mul_overflow(
                                 ald_varint_read_signed(bytes), (int64_t) divisor, &difference) ||
                                __builtin_add_overflow(value, difference, &value)))
                        bytes->bad = true;
                if (value > INTEGER_MAX || value < -INTEGER_MAX)
                        bytes->bad = true;
                values[i] = (double) value / powers[decimals];
        }
}

/* Groups the bytes of the values by significance, which compresses better. */
static void append_doubles(GByteArray *bytes, const double *values, size_t n)
{
        for (unsigned shift = 0; shift < 64; shift += 8)
                for (size_t i = 0; i < n; i++) {
                        uint64_t bits;
                        uint8_t byte;

                        memcpy(&bits, &values[i], sizeof bits);
                        byte = (uint8_t) (bits >> shift);
                        g_byte_array_append(bytes, &byte, 1);
                }
}

static void read_doubles(AldBytes *bytes, double *values, size_t n)
{
        if (bytes->n / 8 < n) {
                bytes->bad = true;
                return;
        }
        for (size_t i = 0; i < n; i++) {
                uint64_t bits = 0;

                for (unsigned byte = 0; byte < 8; byte++)
                        bits |= (uint64_t) bytes->at[byte * n + i] << (8 * byte);
                memcpy(&values[i], &bits, sizeof bits);
                if (!isfinite(values[i]))
                        bytes->bad = true;
        }
        bytes->at += 8 * n;
        bytes->n -= 8 * n;
}

static void append_values(GByteArray *bytes, const double *values, size_t n)
{
        g_autofree int64_t *scaled = g_new(int64_t, n);
        uint8_t decimals = 0;

        while (decimals <= DECIMALS_MAX && !scale_to_integers(values, n, decimals, scaled))
                decimals++;
        if (decimals > DECIMALS_MAX)
                decimals = AS_DOUBLES;
        g_byte_array_append(bytes, &decimals, 1);
        if (decimals == AS_DOUBLES)
                append_doubles(bytes, values, n);
        else if (n > 0)
                append_integers(bytes, scaled, n);
}

static void read_values(AldBytes *bytes, double *values, size_t n)
{
        uint64_t decimals = AS_DOUBLES + 1;

        if (bytes->n > 0) {
                decimals = *bytes->at++;
                bytes->n--;
        }
        if (decimals == AS_DOUBLES)
                read_doubles(bytes, values, n);
        else if (decimals > DECIMALS_MAX)
                bytes->bad = true;
        else if (n > 0)
                read_integers(bytes, values, n, (unsigned) decimals);
}

static void append_column(GByteArray *bytes, const double *column, size_t n)
{
        size_t n_known, at = 0;
        g_autofree bool *known = find_known(column, n, &n_known);
        g_autofree double *values = g_new(double, n_known);

        for (size_t i = 0; i < n; i++)
                if (known[i])
                        values[at++] = column[i];
        append_gaps(bytes, known, n);
        append_values(bytes, values, n_known);
}

static void read_column(AldBytes *bytes, double *column, size_t n)
{
        size_t n_known = 0, at = 0;
        g_autofree bool *known = read_gaps(bytes, n, &n_known);
        g_autofree double *values = g_new(double, n_known);

        if (!known)
                return;
        read_values(bytes, values, n_known);
        for (size_t i = 0; i < n && !bytes->bad; i++)
                column[i] = known[i] ? values[at++] : NAN;
}

void ald_chunk_encode(const AldChunk *chunk, GByteArray *bytes)
{
        const uint8_t format = FORMAT;

        g_byte_array_append(bytes, &format, 1);
        ald_varint_append(bytes, chunk->n_rows);
        ald_varint_append(bytes, chunk->n_columns);
        append_times(bytes, chunk->times, chunk->n_rows);
        for (size_t i = 0; i < chunk->n_columns; i++)
                append_column(bytes, chunk->columns[i], chunk->n_rows);
}

int ald_chunk_decode(const uint8_t *bytes, size_t n, AldChunk **ret)
{
        g_autoptr(AldChunk) chunk = NULL;
        AldBytes rest = { bytes, n, false };
        uint64_t n_rows, n_columns;

        if (n == 0 || *rest.at != FORMAT)
                return -EBADMSG;
        rest.at++;
        rest.n--;
        n_rows = ald_varint_read(&rest);
        n_columns = ald_varint_read(&rest);
        if (rest.bad || n_rows == 0 || n_rows > ALD_CHUNK_ROWS_MAX || n_columns == 0 ||
                n_columns > ALD_CHUNK_COLUMNS_MAX)
                return -EBADMSG;
        chunk = ald_chunk_new(n_rows, n_columns);
        read_times(&rest, chunk->times, n_rows);
        for (size_t i = 0; i < n_columns && !rest.bad; i++)
                read_column(&rest, chunk->columns[i], n_rows);
        if (rest.bad || rest.n > 0)
                return -EBADMSG;
        *ret = g_steal_pointer(&chunk);
        return 0;
}
