/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* Makes ssh, which this program starts, ask for passwords in a dialog if there is a program for that. Changes
 * the environment, so it must be called before there are threads. */
void ald_ssh_prepare_environment(void);

/* Whether ssh can ask the user. */
bool ald_ssh_can_ask(void);
