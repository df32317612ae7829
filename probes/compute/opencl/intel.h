/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/gemm/gemm.h"

/* Matrix units, by cl_intel_subgroup_matrix_multiply_accumulate. The supported size of sub-groups is found by
 * building. */
AldFit ald_intel_fit_matrix(const AldOpenclTarget *device);
