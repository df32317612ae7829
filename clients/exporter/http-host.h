/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/*
 * Returns whether a request with this Host is meant for this machine: an IP literal, localhost, the host name
 * or NAME.local, or one of `names`. A web page may make its own name resolve to this machine, so that a
 * browser reads for its server what the server cannot reach; such a request has that name, and is not for
 * this machine. NULL, as in HTTP/1.0 without Host, comes from no browser.
 */
bool ald_http_host_is_own(const char *host, const char *const *names);
