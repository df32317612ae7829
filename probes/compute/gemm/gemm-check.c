/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include <glib.h>

#include "probes/compute/gemm/gemm-check.h"

#define N_CORNERS 4u
#define N_PLACES (N_CORNERS + ALD_GEMM_SAMPLES)

typedef struct Place {
        unsigned row, column;
        double value;
} Place;

struct AldGemmCheck {
        unsigned n;
        Place places[N_PLACES];
        double *weights;  /* of each column */
        double *products; /* of each row with the weights */
};

static double element_of_product(AldElement element, uint32_t n, uint32_t row, uint32_t column)
{
        double sum = 0;

        for (uint32_t k = 0; k < n; k++)
                sum += ald_operand(element, ALD_OPERAND_A, row * n + k) *
                       ald_operand(element, ALD_OPERAND_B, k * n + column);
        return sum;
}

/* Returns the product of an operand and a vector. */
static double *multiply_by_vector(AldElement element, AldOperand operand, uint32_t n, const double *vector)
{
        double *product = g_new(double, n);

        for (uint32_t row = 0; row < n; row++) {
                double sum = 0;

                for (uint32_t column = 0; column < n; column++)
                        sum += ald_operand(element, operand, row * n + column) * vector[column];
                product[row] = sum;
        }
        return product;
}

/* Returns the weight of a column; the root mean square of all weights is 1.53. */
static double column_weight(uint32_t column)
{
        uint32_t bits = ald_gemm_hash(~column);
        double size = 1 + (bits >> 1) * 0x1p-31;

        return bits & 1 ? size : -size;
}

AldGemmCheck *ald_gemm_check_new(AldElement element, unsigned n)
{
        AldGemmCheck *check = g_new0(AldGemmCheck, 1);
        g_autofree double *inner = NULL;

        check->n = n;
        check->weights = g_new(double, n);
        for (unsigned i = 0; i < n; i++)
                check->weights[i] = column_weight(i);
        inner = multiply_by_vector(element, ALD_OPERAND_B, n, check->weights);
        check->products = multiply_by_vector(element, ALD_OPERAND_A, n, inner);
        for (unsigned i = 0; i < N_PLACES; i++) {
                Place *place = &check->places[i];

                place->row = i < N_CORNERS ? (i & 1) * (n - 1) : ald_gemm_hash(2 * i) % n;
                place->column = i < N_CORNERS ? (i >> 1) * (n - 1) : ald_gemm_hash(2 * i + 1) % n;
                place->value = element_of_product(element, n, place->row, place->column);
        }
        return check;
}

void ald_gemm_check_free(AldGemmCheck *check)
{
        if (!check)
                return;
        g_free(check->weights);
        g_free(check->products);
        g_free(check);
}

/*
 * An element is a sum of n products whose root mean square is 1/3. If it is rounded to fp16 after each of
 * them, it is typically off by n/4 · 1/3 · 2⁻¹⁰; six times as much covers the worst of many elements. The
 * tolerance for fp32 allows for devices that round towards zero, or in blocks.
 */
double ald_gemm_tolerance(unsigned n, bool fp16_sums)
{
        return fp16_sums ? 6 * 0.25 * n / 3.0 / 1024 : 32 * n / 3.0 / (1 << 23);
}

static int check_places(const AldGemmCheck *check, const float *rows, unsigned first, unsigned n_rows,
        double tolerance, AldFailure *failure)
{
        for (unsigned i = 0; i < N_PLACES; i++) {
                const Place *place = &check->places[i];
                double actual;

                if (place->row < first || place->row - first >= n_rows)
                        continue;
                actual = (double) rows[(size_t) (place->row - first) * check->n + place->column];
                if (!(fabs(actual - place->value) <= tolerance))
                        return ald_fail(failure, ALD_FAILURE_WRONG_RESULT,
                                "row %u, column %u of the product is %g, not %g", place->row, place->column,
                                actual, place->value);
        }
        return 0;
}

int ald_gemm_check_rows(const AldGemmCheck *check, const float *rows, unsigned first, unsigned n_rows,
        double tolerance, AldFailure *failure)
{
        int r = check_places(check, rows, first, n_rows, tolerance, failure);

        for (unsigned row = 0; r >= 0 && row < n_rows; row++) {
                const float *elements = rows + (size_t) row * check->n;
                double sum = 0, expected = check->products[first + row];

                for (unsigned i = 0; i < check->n; i++)
                        sum += (double) elements[i] * check->weights[i];
                if (!(fabs(sum - expected) <= tolerance * 1.6 * sqrt(check->n)))
                        r = ald_fail(failure, ALD_FAILURE_WRONG_RESULT,
                                "row %u of the product is wrong: %g in all, not %g", first + row, sum,
                                expected);
        }
        return r;
}
