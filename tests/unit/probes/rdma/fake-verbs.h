/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>

/*
 * libibverbs as far as the RDMA probe uses it, with devices that exist in this process only: what one thread
 * sends another receives. It misbehaves as requested.
 */

typedef struct FakeFaults {
        bool no_inline, first_port_down;
        int requests_max, region_max; /* 0: plenty */
        size_t n_gids;                /* a caller without room for as many gets none */
        /* errno of what the device does not do; the request is the n-th */
        int register_error, queue_error, completions_error, way_error, request_error;
        unsigned request_error_at;
        enum ibv_wc_status status; /* of the n-th completion, instead of success */
        unsigned status_at;
        enum ibv_event_type event; /* reported after this many completions; 0: never */
        unsigned event_at;
        int event_port;     /* that it is about */
        unsigned broken_at; /* the completion queue fails then */
        /* What the thread with fake_verbs_lie() says of itself is wrong. */
        bool wrong_key, wrong_psn, wrong_nonce, wrong_gid;
        bool short_messages; /* what it sends is shorter than a message */
        bool gid_goes;       /* it is there when a port is opened, and not later */
} FakeFaults;

void fake_verbs_begin(const FakeFaults *faults);

/* True once all is given back. */
bool fake_verbs_end(void);

/* The calling thread's devices are those that lie. */
void fake_verbs_lie(void);

/* Calls this before the calling thread's n-th request of that kind. */
void fake_verbs_at_request(enum ibv_wr_opcode kind, unsigned n, void (*call)(void));
