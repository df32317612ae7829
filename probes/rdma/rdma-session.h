/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/channel.h"
#include "probes/rdma/endpoint.h"
#include "probes/rdma/rdma-cm.h"

#define ALD_RDMA_SESSION_TIMEOUT (10 * ALD_NSEC_PER_SEC) /* beyond the time of a phase */

/* The messages of a session. record/messages/rdma-session.xml describes them in order. */
extern const AldProtocol ald_rdma_protocol;

/* A session: a control connection, and the RDMA connection that it is about. */
typedef struct AldRdmaSession {
        AldChannel channel;
        AldVerbsPort port;
        AldEndpoint endpoint;
        AldRdmaCm manager;
        AldGid own_gid, peer_gid;
        bool has_gid;
        unsigned turns;   /* since the last look at the clock, which may be slow */
        uint64_t polled;  /* time when the control connection was last read */
        uint64_t timeout; /* ns, of each phase */
        AldFailure *failure;
} AldRdmaSession;

/* Reports to the other side why the session ends, if the connection still works. */
void ald_rdma_session_abort(AldRdmaSession *session);

/* Waits for a message of this kind; ret may be NULL. */
int ald_rdma_session_expect(AldRdmaSession *session, AldKind kind, AldRecord **ret);

/* Fails because a message arrived out of turn. */
int ald_rdma_session_unexpected(AldRdmaSession *session);

/* Call this repeatedly while data flows. It returns 1 with a message, 0 without one, otherwise a failure. If
 * ret is NULL, the message is dropped. */
int ald_rdma_session_poll(AldRdmaSession *session, uint64_t deadline, AldRecord **ret);

/*
 * Call this if nothing was received. It yields the processor until something arrives, or until
 * ald_rdma_session_poll() is due. A driver without hardware needs the processor to move the data.
 */
int ald_rdma_session_wait(AldRdmaSession *session);

/* Connects the endpoint through the chosen GIDs, if ours still exists. */
int ald_rdma_session_connect(AldRdmaSession *session);

/* Closes the control connection first, since closing the device may take long. */
void ald_rdma_session_close(AldRdmaSession *session);

/* Sends the first bytes of a control connection, ALD_FIRST_BYTES_RDMA, which come before TLS. */
int ald_rdma_session_send_preamble(int fd, AldFailure *failure);
