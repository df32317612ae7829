/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Runs `alidadectl cluster sign` on another machine over ssh(1), which may prompt. The flags describe the
 * request: whether it renews, and whether it includes a broker. Reports errors and returns an exit code.
 */
int ald_remote_sign(const char *host, const char *request, bool renew, bool replace, bool broker,
        char **ret_bundle, size_t *ret_n);
