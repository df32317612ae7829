/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "probes/common/failure.h"

/*
 * Drivers hold a process up that asks them for something, even one that was killed. So all of them are asked
 * in a child, and whoever waits for us is answered in time.
 */

/* In the child: what it does, and tells by ald_guard_answer() before it gives the device back. */
typedef void (*AldGuardWork)(int answer, int stop, void *userdata);

void ald_guard_answer(int answer, int code, const char *text);

/*
 * Runs it until the deadline (ns, as ald_now()) at most. Returns the code with the text, to be freed by
 * g_free(); negative where there is none.
 */
int ald_guard_run(
        AldGuardWork work, void *userdata, int stop, uint64_t deadline, char **ret_text, AldFailure *failure);
