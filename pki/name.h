/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "pki/types.h"

/* The only value of this kind in a name, as printable text; "" if there are none or several, or it is not
 * printable. */
void ald_pki_name_get(const X509_NAME *name, int nid, char ret[static ALD_PKI_NAME_MAX + 1]);

/* -EINVAL if the value is empty, too long or not printable. */
int ald_pki_name_add(X509_NAME *name, int nid, const char *value);

/* Whether it is a valid host name for a certificate, and not an address. */
bool ald_pki_is_host_name(const char *text);

/* Whether it is a valid name of a site: letters, digits, '-', '_' and '.', not too long. */
bool ald_pki_is_site(const char *text);
