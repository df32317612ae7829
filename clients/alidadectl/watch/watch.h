/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/command-line/ctl.h"

/* Shows the cluster on the terminal until the user or a signal ends it, and then restores the terminal. */
int ald_watch_run(const AldCtl *ctl);
