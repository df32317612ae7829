/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Calls that may block for long, or for ever, each in a thread of its own: of file systems, and of drivers
 * that wait for firmware. `call` should allocate no memory, so that malloc() does not create an arena for the
 * thread.
 */

/* Calls `call` in a thread, then `done` in the main loop, which may free the data. Returns -EAGAIN if there
 * can be no thread; then neither is called. */
int ald_thread_call(const char *name, void (*call)(void *data), void (*done)(void *data), void *data);
