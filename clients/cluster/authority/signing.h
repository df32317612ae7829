/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/cluster/authority/authority.h"
#include "clients/cluster/command.h"
#include "clients/cluster/enrolment/request-and-bundle.h"

/* A request that was read, and its result. */
typedef struct AldSigning {
        AldClusterFiles *files;
        AldAuthority *authority;
        const AldRequest *request;
        GPtrArray *replaced; /* serials of certificates for other keys, and of brokers that had the address */
        const AldIssued *node;   /* NULL until signed */
        const AldIssued *broker; /* NULL until signed, or without a broker */
        bool kept;               /* both were signed before */
} AldSigning;

/* Returns the hosts that --address= does not allow; none if the option was not given. */
char **ald_signing_disallowed_hosts(const AldClusterCommand *command, char **hosts);

/* Checks that --address= allows the broker of this request. Reports errors and returns an exit code. */
int ald_signing_check_allowed(const AldClusterCommand *command, const AldSigning *signing);

/* Checks that this request may be granted, and collects what it revokes. Reports errors and returns an exit
 * code. */
int ald_signing_check(const AldClusterCommand *command, AldSigning *signing);
