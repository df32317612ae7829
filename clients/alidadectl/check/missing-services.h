/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/check/check-result.h"
#include "clients/command-line/ctl.h"

/* Adds a problem for each service that should run but does not, and for each that runs only on request and
 * cannot be started. A member of a cluster also needs the cluster service. Starts none of them. */
void ald_check_services(const AldCtl *ctl, bool is_member, AldCheckResult *result);

/* The Id of these problems. */
#define ALD_CHECK_ID_SERVICE "service-missing"
