/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#define ALD_NODE_ID_SIZE 33u /* 32 lower-case hexadecimal digits and the NUL */

/*
 * Derives the node id of this machine from the machine id, which it does not reveal, so that it is stable.
 * ALIDADE_MACHINE_ID replaces /etc/machine-id if several nodes share one machine. Logs an error with its
 * remedy, and returns it.
 */
int ald_node_id(char ret[static ALD_NODE_ID_SIZE]);
