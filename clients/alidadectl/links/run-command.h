/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Runs a command as if it stood alone: signals that are sent to this program go on to it, and it is ended
 * when this program dies. Returns its exit status, 128 + the number of the signal that ended it, 127 where
 * there is no such command and 126 where it cannot be run.
 */
int ald_run_command(char **argv);
