/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* Sets the environment of ssh, which this program starts, so that it asks for passwords in a dialog if there
 * is a program for that. Call this before there are threads. */
void ald_ssh_prepare_environment(void);

/* Returns whether ssh can ask the user for a password. */
bool ald_ssh_can_ask(void);
