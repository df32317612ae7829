/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The FP16 TFLOPS and the memory bandwidth that alidadectl shows for a node with these records, which are
 * JSON with ' for "; NaN where it shows none. A file of its own, since alidadectl and state/ both have an
 * AldDevice. */
void ctl_sums(const char *backends, const char *compute, double *ret_tflops, double *ret_bandwidth);
