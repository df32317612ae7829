/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether the first bytes are those of TLS. They are assumed to arrive together. */
bool ald_first_bytes_are_tls(const unsigned char *bytes, size_t n);

/* Whether they are the bytes before TLS that request RDMA. They only select the program. */
#define ALD_FIRST_BYTES_RDMA "RDMA"
#define ALD_FIRST_BYTES_RDMA_SIZE 4u
bool ald_first_bytes_are_rdma(const unsigned char *bytes, size_t n);
