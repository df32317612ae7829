/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <jansson.h>

/* What a compute device delivered, in words, from its row in Node1.Compute or in the result of a job. Pure.
 */

/* "82.6 TFLOPS FP16, 1.01 TB/s memory bandwidth, unstable": the product by its precision, and what limits the
 * trust; empty where nothing is known. Safe text. */
char *ald_compute_glance(const json_t *row);

/* All of a row of Message1.ComputeResult, an entry a line. `errors` are those of all devices, or NULL. */
void ald_compute_describe(GString *out, const json_t *row, const json_t *errors, unsigned columns);
