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
        int node;     /* NUMA; -1: unknown */
} AldVerbsPort;

/* wanted: "mlx5_0.1" or "mlx5_0"; NULL: the first port that is up. */
int ald_verbs_port_open(const char *wanted, AldVerbsPort *ret, AldFailure *failure);
void ald_verbs_port_close(AldVerbsPort *port);

/* Fails if the port does not have that GID any more. */
int ald_verbs_port_check_gid(const AldVerbsPort *port, const AldGid *gid, AldFailure *failure);

/* Bits per second of the port; 0: unknown. */
uint64_t ald_verbs_port_rate(const AldVerbsPort *port);

/* Whether the port supports writing with immediate, which iWARP lacks. */
bool ald_verbs_port_takes_immediate(const AldVerbsPort *port);

/* Whether a connection needs rdma_cm. */
bool ald_verbs_port_needs_manager(const AldVerbsPort *port);

void ald_verbs_port_limits(const AldVerbsPort *port, AldRdmaPlanLimits *ret);
