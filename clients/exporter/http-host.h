/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/*
 * Whether a request with this Host means this machine: an IP literal, localhost, the host name or NAME.local,
 * or one of `names`. A web page whose own name leads here, to read with a browser what its server cannot,
 * sends that name. NULL, as HTTP/1.0 without Host, comes from no browser.
 */
bool ald_http_host_is_own(const char *host, const char *const *names);
