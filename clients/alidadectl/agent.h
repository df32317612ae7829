/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/command-line/ctl.h"

/*
 * Starts polkit's text agent, which asks for the password on this terminal. It runs until it is stopped.
 * Returns its process id, or 0 if it was not started: it is not started for root, for a remote machine,
 * without a terminal, or with --no-ask-password.
 */
int ald_agent_start(const AldCtl *ctl);
void ald_agent_stop(int pid);

/* Returns true if the user can be asked, by our agent or one of the session. */
bool ald_agent_may_ask(const AldCtl *ctl);
