/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Runs a command transparently: forwards signals to it, and kills it when this program dies. Returns its exit
 * status, 128 + the number of the signal that killed it, 127 if the command does not exist and 126 if it
 * cannot be run.
 */
int ald_run_command(char **argv);
