/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Warpgroup instructions of Hopper. The compiler of OpenCL emits PTX for sm_90, which has none of them, so they
 * stand here as comments that name the registers they need; ald_ptx_uncomment() makes instructions of them.
 * Macros have no "..." since some compilers of OpenCL refuse it.
 */

/* What was copied to local memory by ordinary means is seen by the instructions below. */
#define COPIES_SHOW() asm volatile("//@fence.proxy.async.shared::cta;" : : : "memory")

/* An object in local memory that shows when all the bytes of a matrix have arrived. */
#define ARRIVAL_INIT(arrival) asm volatile("mbarrier.init.shared.b64 [%0], 1;" : : "r"(arrival) : "memory")
#define ARRIVAL_EXPECT(arrival, bytes)                                                                 \
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;"                               \
                     :                                                                                 \
                     : "r"(arrival), "r"(bytes)                                                        \
                     : "memory")
/* turn: 0 the first time, then 1 and 0 alternately. */
#define ARRIVAL_WAIT(arrival, turn)                                                                    \
        asm volatile("{.reg .pred done; again: mbarrier.try_wait.parity.shared.b64 done, [%0], %1; "   \
                     "@!done bra again;}"                                                              \
                     :                                                                                 \
                     : "r"(arrival), "r"(turn)                                                         \
                     : "memory")
/* Copies consecutive bytes from global to local memory, without waiting. */
#define COPY_BYTES(to, from, bytes, arrival)                                                           \
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "              \
                     "[%0], [%1], %2, [%3];"                                                           \
                     :                                                                                 \
                     : "r"(to), "l"(from), "r"(bytes), "r"(arrival)                                    \
                     : "memory")

#define WARPGROUP_BEGIN() asm volatile("//@wgmma.fence.sync.aligned;" : : : "memory")
#define WARPGROUP_COMMIT() asm volatile("//@wgmma.commit_group.sync.aligned;" : : : "memory")
/* Waits for all groups but the last so many. */
#define WARPGROUP_WAIT(groups) asm volatile("//@wgmma.wait_group.sync.aligned " #groups ";" : : : "memory")

/*
 * Describes a matrix in local memory whose rows of 64 fp16 follow each other, each group of eight rows at a
 * multiple of 1024 bytes, sixteen bytes of them exchanged with each other as the 128-byte swizzle does.
 */
#define DESCRIBE(address)                                                                              \
        ((ulong) (((address) &0x3ffff) >> 4) | (ulong) 1 << 16 | (ulong) (1024 >> 4) << 32 | (ulong) 1 << 62)

#define TEN(tens)                                                                                      \
        "%" tens "0, %" tens "1, %" tens "2, %" tens "3, %" tens "4, %" tens "5, %" tens "6, %" tens   \
        "7, %" tens "8, %" tens "9, "
#define EIGHT(c, i)                                                                                    \
        "+f"((c)[i]), "+f"((c)[i + 1]), "+f"((c)[i + 2]), "+f"((c)[i + 3]), "+f"((c)[i + 4]),          \
                "+f"((c)[i + 5]), "+f"((c)[i + 6]), "+f"((c)[i + 7])
#define SIXTY_FOUR(c, i)                                                                               \
        EIGHT(c, i), EIGHT(c, i + 8), EIGHT(c, i + 16), EIGHT(c, i + 24), EIGHT(c, i + 32),            \
                EIGHT(c, i + 40), EIGHT(c, i + 48), EIGHT(c, i + 56)

/*
 * c += a*b of a warpgroup: 64 x 16 by 16 x 256, described as above, fp16 with sums in fp32. Sums: of warp w rows
 * 16w + lane / 4 (c[4j], c[4j + 1]) and 8 more, columns 8j + lane % 4 * 2 and the next.
 */
#define WARPGROUP_MULTIPLY(c, a, b, sign)                                                              \
        asm volatile("//@{.reg .pred add; setp.eq.u32 add, 0, 0; "                                      \
                     "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" TEN("") TEN("1") TEN("2")  \
                     TEN("3") TEN("4") TEN("5") TEN("6") TEN("7") TEN("8") TEN("9") TEN("10") TEN("11") \
                     "%120, %121, %122, %123, %124, %125, %126, %127}, %128, %129, add, 1, " sign ", 0, 0;}" \
                     : SIXTY_FOUR(c, 0), SIXTY_FOUR(c, 64)                                              \
                     : "l"(a), "l"(b))
#define WARPGROUP_MULTIPLY_ADD(c, a, b) WARPGROUP_MULTIPLY(c, a, b, "1")
#define WARPGROUP_MULTIPLY_SUBTRACT(c, a, b) WARPGROUP_MULTIPLY(c, a, b, "-1")
