/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#define ALD_NODE_ID_SIZE 33u /* 32 lower-case hexadecimal digits, terminated */

/*
 * The node id of this machine: derived from the machine id, stable, and not revealing it. ALIDADE_MACHINE_ID
 * replaces /etc/machine-id if several nodes share one machine. Logs an error with its remedy, and returns it.
 */
int ald_node_id(char ret[static ALD_NODE_ID_SIZE]);
