/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/ctl.h"

/*
 * polkit's text agent, which asks for the password on this terminal. It runs until it is stopped; 0 is none.
 * None is started for root, for a remote machine, away from a terminal, or where --no-ask-password forbids
 * it.
 */
int ald_agent_start(const AldCtl *ctl);
void ald_agent_stop(int pid);

/* Whether anybody can be asked, by our agent or one of the session. */
bool ald_agent_may_ask(const AldCtl *ctl);
