/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/*
 * Whether the mosquitto of this folder would read our drop-in, conf.d/alidade.conf, and have no other way
 * in: another listener would let anyone publish for any node, unless it has an ACL of its own, and an option
 * after a listener changes that listener. *ret_shared is set if there is another listener. Returns 0, or
 * -errno with the problem and its solution in *ret_reason.
 */
int ald_mosquitto_conf_check(const char *folder, bool *ret_shared, char **ret_reason);
