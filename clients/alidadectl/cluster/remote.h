/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Has `alidadectl cluster sign` make a bundle of a request on another machine, over ssh(1), which asks there
 * for whatever it asks for. It is to renew, rather than to join, and has a broker in it, or not.
 * Complains and returns an exit code.
 */
int ald_remote_sign(const char *host, const char *request, bool renew, bool replace, bool broker,
        char **ret_bundle, size_t *ret_n);
