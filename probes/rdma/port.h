/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <infiniband/verbs.h>

#include "probes/common/failure.h"
#include "probes/rdma/gid.h"
#include "probes/rdma/plan.h"

#define ALD_RDMA_NAME_SIZE 80u

/* A port of an RDMA device, opened. */
typedef struct AldPort {
        struct ibv_context *context;
        char name[ALD_RDMA_NAME_SIZE]; /* mlx5_0.1 */
        unsigned number;
        struct ibv_device_attr device;
        struct ibv_port_attr port;
        AldGids gids; /* that can be used */
        int node;     /* NUMA; -1: unknown */
} AldPort;

/* wanted: "mlx5_0.1" or "mlx5_0"; NULL: the first port that is up. */
int ald_port_open(const char *wanted, AldPort *ret, AldFailure *failure);
void ald_port_close(AldPort *port);

/* Fails if the port does not have that GID any more. */
int ald_port_check_gid(const AldPort *port, const AldGid *gid, AldFailure *failure);

/* Bits per second of the port; 0: unknown. */
uint64_t ald_port_rate(const AldPort *port);

/* Whether the port supports writing with immediate, which iWARP lacks. */
bool ald_port_takes_immediate(const AldPort *port);

/* Whether a connection needs rdma_cm. */
bool ald_port_needs_manager(const AldPort *port);

void ald_port_limits(const AldPort *port, AldPlanLimits *ret);
