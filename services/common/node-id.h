/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#define ALD_NODE_ID_SIZE 33u /* 32 lower-case hexadecimal digits, terminated */

/*
 * The id under which this machine is known to all others: derived from the machine id, stable, and revealing
 * nothing of it. ALIDADE_MACHINE_ID stands in for /etc/machine-id where several nodes share one machine. Logs
 * its error and the remedy, and returns it.
 */
int ald_node_id(char ret[static ALD_NODE_ID_SIZE]);
