/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/types.h"

/* µs; 0 if it is unreadable or before 1970. */
uint64_t ald_pki_date_read(const ASN1_TIME *time);

/* Sets the time to `now` plus days and seconds; false if the result is not a date. */
gboolean ald_pki_date_set(ASN1_TIME *time, uint64_t now, int days, long seconds);

/* "2026-11-21 18:24 UTC" */
char *ald_pki_date_format(uint64_t usec);
