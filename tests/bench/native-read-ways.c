/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/bench/native-read-ways.h"

#define LOADS 8
#define AHEAD 4096 /* bytes */

/*
 * With vectors of so many bytes, which the compiler makes of the widest that the target has; in so many
 * streams at once, since hardware fetches ahead in each; asking for what comes, or not.
 */
#define READ(name, target_attribute, bytes, streams, ahead)                              \
        target_attribute static uint64_t name(const char *memory, size_t size)           \
        {                                                                                \
                typedef uint64_t Vector __attribute__((vector_size(bytes)));             \
                Vector sums[LOADS] = {};                                                 \
                size_t stream = size / (streams);                                        \
                uint64_t sum = 0;                                                        \
                                                                                         \
                for (size_t at = 0; at < stream; at += LOADS * (bytes) / (streams)) {    \
                        _Pragma("GCC unroll 8") for (size_t i = 0; i < LOADS; i++)       \
                        {                                                                \
                                const char *from = memory + at + i % (streams) *stream + \
                                                   i / (streams) * (bytes);              \
                                                                                         \
                                if (ahead)                                               \
                                        __builtin_prefetch(from + AHEAD, 0, 3);          \
                                sums[i] += *(const Vector *) from;                       \
                        }                                                                \
                }                                                                        \
                for (size_t i = 1; i < LOADS; i++)                                       \
                        sums[0] += sums[i];                                              \
                for (size_t i = 0; i < (bytes) / sizeof sum; i++)                        \
                        sum += sums[0][i];                                               \
                return sum;                                                              \
        }

static bool always(void)
{
        return true;
}

READ(plain, , 16, 1, false)
READ(plain_streams, , 16, 4, false)

#ifdef __x86_64__
#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f")))
READ(avx2, AVX2, 32, 1, false)
READ(avx2_streams, AVX2, 32, 4, false)
READ(avx2_ahead, AVX2, 32, 1, true)
READ(avx512, AVX512, 64, 1, false)
READ(avx512_streams, AVX512, 64, 4, false)
READ(avx512_ahead, AVX512, 64, 1, true)

static bool has_avx2(void)
{
        return __builtin_cpu_supports("avx2");
}

static bool has_avx512(void)
{
        return __builtin_cpu_supports("avx512f");
}
#endif

const NativeWay native_ways[] = {
        { "plain", always, plain },
        { "streams", always, plain_streams },
#ifdef __x86_64__
        { "avx2", has_avx2, avx2 },
        { "avx2-streams", has_avx2, avx2_streams },
        { "avx2-ahead", has_avx2, avx2_ahead },
        { "avx512", has_avx512, avx512 },
        { "avx512-streams", has_avx512, avx512_streams },
        { "avx512-ahead", has_avx512, avx512_ahead },
#endif
        { NULL, NULL, NULL },
};
