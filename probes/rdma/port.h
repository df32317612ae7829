/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <infiniband/verbs.h>

#include "probes/common/failure.h"
#include "probes/rdma/gid.h"
#include "probes/rdma/transfer-plan.h"

#define ALD_RDMA_NAME_SIZE 80u

/* A port of an RDMA device, opened. */
typedef struct AldVerbsPort {
        struct ibv_context *context;
        char name[ALD_RDMA_NAME_SIZE]; /* mlx5_0.1 */
        unsigned number;
        struct ibv_device_attr device;
        struct ibv_port_attr port;
        AldGids gids; /* that can be used */
        int node;     /* NUMA node; -1 if unknown */
} AldVerbsPort;

/* Opens the wanted port, such as "mlx5_0.1" or "mlx5_0", or the first one that is up if that is NULL. */
int ald_verbs_port_open(const char *wanted, AldVerbsPort *ret, AldFailure *failure);
void ald_verbs_port_close(AldVerbsPort *port);

/* Fails if the port does not have that GID any more. */
int ald_verbs_port_check_gid(const AldVerbsPort *port, const AldGid *gid, AldFailure *failure);

/* Returns the rate of the port in bits/s; 0 if unknown. */
uint64_t ald_verbs_port_rate(const AldVerbsPort *port);

/* Returns whether the port supports writing with immediate, which iWARP lacks. */
bool ald_verbs_port_takes_immediate(const AldVerbsPort *port);

/* Returns whether a connection needs rdma_cm. */
bool ald_verbs_port_needs_manager(const AldVerbsPort *port);

void ald_verbs_port_limits(const AldVerbsPort *port, AldRdmaPlanLimits *ret);
