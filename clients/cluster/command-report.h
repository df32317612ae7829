/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/types.h"

/* Reports what failed, with the reason or, if that is NULL, the text of the errno. Returns an exit code. */
int ald_report_failure(int r, const char *what, const char *reason);

/* Keeps the first failure, for a run that goes on after one. */
void ald_report_keep_first(int *result, int r);

/* Formats µs of CLOCK_REALTIME as "2027-12-23"; "?" if it is not a date. Free with g_free(). */
char *ald_report_day(uint64_t usec);

/* Describes a list as "number 2, 1 certificate revoked". Free with g_free(). */
char *ald_report_crl(X509_CRL *crl);
