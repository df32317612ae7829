/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "probes/common/failure.h"

/*
 * A driver can block its caller even after a SIGKILL. A child therefore makes all calls to drivers, so that
 * this process answers in time.
 */

/* Runs in the child, and calls ald_driver_process_answer() before it closes the device. */
typedef void (*AldDriverWork)(int answer, int stop, void *userdata);

void ald_driver_process_answer(int answer, int code, const char *text);

/*
 * Runs the work in a child, at most until the deadline (ns, as ald_now()). Returns the code, with the text to
 * be freed with g_free(); a negative errno if there is no answer.
 */
int ald_driver_process_run(AldDriverWork work, void *userdata, int stop, uint64_t deadline, char **ret_text,
        AldFailure *failure);
