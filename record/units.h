/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include <glib.h>

/* Figures in human units, with at most three digits. Free with g_free(). */
char *ald_units_rate(uint64_t bits_per_second); /* 13 Gb/s */
char *ald_units_transfers(uint64_t per_second); /* 16 GT/s */
char *ald_units_bytes(uint64_t bytes);          /* 62.7 GiB */
char *ald_units_tflops(double tflops);          /* 82.6 TFLOPS */
char *ald_units_duration(uint64_t usec);        /* 3 h */
