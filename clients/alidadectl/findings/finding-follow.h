/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/command-line/ctl.h"

/* Prints the findings that lasted or ended since `from_usec`, and each one that begins or ends from now on,
 * until interrupted. Returns an exit code. */
int ald_finding_follow(const AldCtl *ctl, uint64_t from_usec);
