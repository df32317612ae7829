/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What nvidia-hopper.cl has, in plain OpenCL C; see emulated-nvidia.cl, which comes first. */
#define COPIES_SHOW()
/* Copies are there at once, and a barrier follows. */
#define ARRIVAL_INIT(arrival)
#define ARRIVAL_EXPECT(arrival, bytes)
#define ARRIVAL_WAIT(arrival, turn)
#define COPY_BYTES(to, from, bytes, arrival)                                                           \
        for (int i_ = 0; i_ < (bytes); i_ += 16)                                                       \
        *(__local uint4 *) (em_base + (to) + i_) = *(__global const uint4 *) ((from) + i_)
#define WARPGROUP_BEGIN()
#define WARPGROUP_COMMIT()
#define WARPGROUP_WAIT(groups) barrier(CLK_LOCAL_MEM_FENCE)
#define DESCRIBE(address)                                                                              \
        ((ulong) (((address) &0x3ffff) >> 4) | (ulong) 1 << 16 | (ulong) (1024 >> 4) << 32 | (ulong) 1 << 62)

/* Of a matrix with 128-byte swizzle: bits 4 to 6 of an address are exchanged by its bits 7 to 9. */
static float em_described(__local const char *base, ulong matrix, int row, int k)
{
        uint start = (uint) (matrix & 0x3fff) << 4, stride = (uint) (matrix >> 32 & 0x3fff) << 4;
        uint address = start + row / 8 * stride + row % 8 * 128 + k * 2;

        return vload_half(0, (__local const half *) (base + (address ^ (address >> 7 & 7) << 4)));
}

#define WARPGROUP_MULTIPLY(c, a, b, sign)                                                              \
        for (int i_ = 0; i_ < 128; i_++) {                                                             \
                int row_ = em_item / 32 % 4 * 16 + em_item % 32 / 4 + i_ % 4 / 2 * 8;                  \
                int column_ = i_ / 4 * 8 + em_item % 4 * 2 + i_ % 2;                                   \
                                                                                                       \
                for (int k_ = 0; k_ < 16; k_++)                                                        \
                        (c)[i_] += sign em_described(em_base, a, row_, k_) *                           \
                                   em_described(em_base, b, column_, k_);                              \
        }
#define WARPGROUP_MULTIPLY_ADD(c, a, b) WARPGROUP_MULTIPLY(c, a, b, +)
#define WARPGROUP_MULTIPLY_SUBTRACT(c, a, b) WARPGROUP_MULTIPLY(c, a, b, -)
