/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/probe-answer.h"

/* What alidade-probe-rdma says, where that is not what alidade-probe-socket does. */

/* As ald_probe_answer_read(); the reason of a failure begins with its name, by which others know it. */
void ald_rdma_answer_read(const char *output, const char *failure, AldProbeAnswer *ret);

/*
 * The figures, as fields of the record that borrow from the answer; the rest is absent. -EBADMSG where there
 * is no rate in either direction, -EXDEV where other ports than these were measured; NULL is any port.
 */
int ald_rdma_answer_figures(
        const AldProbeAnswer *answer, const char *source_port, const char *sink_port, AldLinkRdma *ret);
