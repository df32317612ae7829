/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include <glib.h>

#include "probes/compute/gemm/gemm-check.h"

#define N 96u

static double from_fp16(uint16_t bits)
{
        double fraction = (bits & 0x3ff) / 1024.0;
        int exponent = bits >> 10 & 31;
        double size = exponent == 0 ? ldexp(fraction, -14) : ldexp(1 + fraction, exponent - 15);

        return bits & 0x8000 ? -size : size;
}

static void test_fp16(void)
{
        for (int32_t i = -2048; i <= 2048; i++)
                g_assert_cmpfloat(from_fp16(ald_fp16_of_multiple(i)), ==, i / 2048.0);
}

/* Random: as many of one sign as of the other, no two neighbours alike, as large as the tolerance assumes. */
static void test_operands(void)
{
        for (unsigned element = 0; element < 2; element++) {
                double sum = 0, squares = 0, same = 0, twins = 0;

                for (uint32_t i = 0; i < 100000; i++) {
                        double a = ald_operand(element, ALD_OPERAND_A, i),
                               b = ald_operand(element, ALD_OPERAND_B, i);

                        g_assert_cmpfloat(fabs(a), <=, 1);
                        sum += a;
                        squares += a * a;
                        same += a == b;
                        twins += a == ald_operand(element, ALD_OPERAND_A, i + 1);
                }
                g_assert_cmpfloat(fabs(sum), <, 1000);
                g_assert_cmpfloat_with_epsilon(squares, 100000 / 3.0, 500);
                g_assert_cmpfloat(same, <, 100);
                g_assert_cmpfloat(twins, <, 100);
        }
}

static void test_fill(void)
{
        uint16_t halves[2 * N];
        float floats[2 * N];

        ald_operand_fill(ALD_ELEMENT_FP32, ALD_OPERAND_A, false, N, 5, 2, floats);
        ald_operand_fill(ALD_ELEMENT_FP16, ALD_OPERAND_B, true, N, 5, 2, halves);
        for (uint32_t i = 0; i < N; i++) {
                g_assert_cmpfloat(
                        (double) floats[N + i], ==, ald_operand(ALD_ELEMENT_FP32, ALD_OPERAND_A, 6 * N + i));
                g_assert_cmpfloat(from_fp16(halves[N + i]), ==,
                        ald_operand(ALD_ELEMENT_FP16, ALD_OPERAND_B, i * N + 6));
        }
}

static float *product(AldElement element)
{
        float *c = g_new(float, N *N);

        for (uint32_t i = 0; i < N; i++)
                for (uint32_t j = 0; j < N; j++) {
                        float sum = 0;

                        for (uint32_t k = 0; k < N; k++)
                                sum += (float) ald_operand(element, ALD_OPERAND_A, i * N + k) *
                                       (float) ald_operand(element, ALD_OPERAND_B, k * N + j);
                        c[i * N + j] = sum;
                }
        return c;
}

static bool is_right(const AldGemmCheck *check, const float *c)
{
        double tolerance = ald_gemm_tolerance(N, false);
        AldFailure failure = {};
        int r = ald_gemm_check_rows(check, c, 0, 32, tolerance, &failure);

        if (r >= 0)
                r = ald_gemm_check_rows(check, c + 32 * N, 32, N - 32, tolerance, &failure);
        g_assert_cmpint(r < 0, ==, failure.message != NULL);
        if (r < 0)
                g_assert_cmpint(failure.kind, ==, ALD_FAILURE_WRONG_RESULT);
        ald_failure_clear(&failure);
        return r >= 0;
}

static void swap(float *a, float *b)
{
        float kept = *a;

        *a = *b;
        *b = kept;
}

/* Whatever is wrong with a product is seen, be it a single element anywhere. */
static void test_wrong(void)
{
        for (unsigned element = 0; element < 2; element++) {
                g_autoptr(AldGemmCheck) check = ald_gemm_check_new(element, N);
                g_autofree float *c = product(element), *wrong = g_memdup2(c, N * N * sizeof *c);

                g_assert_true(is_right(check, c));
                for (unsigned i = 0; i < N * N; i += 7) {
                        wrong[i] += i % 2 ? 0.05f : -0.05f;
                        g_assert_false(is_right(check, wrong));
                        wrong[i] = i % 3 ? NAN : INFINITY;
                        g_assert_false(is_right(check, wrong));
                        wrong[i] = c[i];
                }
                g_assert_true(is_right(check, wrong));
                for (unsigned i = 0; i < N; i++)
                        for (unsigned j = 0; j < i; j++)
                                swap(&wrong[i * N + j], &wrong[j * N + i]);
                g_assert_false(is_right(check, wrong));
                memcpy(wrong, c, N * N * sizeof *c);
                swap(&wrong[50 * N + 3], &wrong[50 * N + 4]);
                g_assert_false(is_right(check, wrong));
                memset(wrong, 0, N * N * sizeof *c);
                g_assert_false(is_right(check, wrong));
        }
}

/* The product of operands in fp16 is not that of those in fp32, and sums in fp16 may be off further. */
static void test_types(void)
{
        g_autoptr(AldGemmCheck) check = ald_gemm_check_new(ALD_ELEMENT_FP16, N);
        g_autofree float *c = product(ALD_ELEMENT_FP32);

        g_assert_false(is_right(check, c));
        g_assert_cmpfloat(ald_gemm_tolerance(N, true), >, 10 * ald_gemm_tolerance(N, false));
        g_assert_cmpfloat(ald_gemm_tolerance(8192, false), <, 0.1);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/compute-gemm-check/fp16", test_fp16);
        g_test_add_func("/compute-gemm-check/operands", test_operands);
        g_test_add_func("/compute-gemm-check/fill", test_fill);
        g_test_add_func("/compute-gemm-check/wrong", test_wrong);
        g_test_add_func("/compute-gemm-check/types", test_types);
        return g_test_run();
}
