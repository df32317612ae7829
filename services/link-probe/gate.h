/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether the first bytes are those of TLS. Nobody sends them one by one. */
bool ald_gate_is_tls(const unsigned char *bytes, size_t n);

/* Whether they are those before TLS that ask for RDMA. They choose the program alone. */
#define ALD_GATE_RDMA "RDMA"
#define ALD_GATE_RDMA_SIZE 4u
bool ald_gate_is_rdma(const unsigned char *bytes, size_t n);
