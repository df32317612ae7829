/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/types.h"

/* Reports what failed; if `reason` is NULL, with the text of the errno. Returns an exit code. */
int ald_report_failure(int r, const char *what, const char *reason);

/* "2027-12-23" for µs of CLOCK_REALTIME; "?" if it is not a date. */
char *ald_report_day(uint64_t usec);

/* "number 2, 1 certificate revoked" */
char *ald_report_crl(X509_CRL *crl);
