/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/*
 * Whether our drop-in, conf.d/alidade.conf, would be read by the mosquitto of this folder, and would be the
 * only way in: another listener would let anybody speak for any node, unless it has an ACL of its own, and an
 * option behind a listener changes that one. *ret_shared is whether there is such another one. Returns 0, or
 * -errno and, in *ret_reason, what is wrong and what to do.
 */
int ald_mosquitto_conf_check(const char *folder, bool *ret_shared, char **ret_reason);
