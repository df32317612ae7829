/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stddef.h>

/*
 * A terminal or pipe that is written to without ever waiting for it: who looks at a stopped terminal, or
 * pipes into a program that has stopped reading, must not make us a subscriber that stops reading the bus.
 */
typedef struct AldOutput AldOutput;

/* r is 0 when all is written that was queued, or the negative errno why nothing can be written any more. */
typedef void (*AldOutputHandler)(AldOutput *output, int r, void *userdata);

/* Carried in the thread's default main context. Negative errno. */
int ald_output_new(int fd, AldOutputHandler handler, void *userdata, AldOutput **ret);
void ald_output_free(AldOutput *output);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldOutput, ald_output_free)

/* Writes what goes and queues the rest. */
void ald_output_write(AldOutput *output, const char *data, size_t size);

/* Bytes in the queue. */
size_t ald_output_pending(AldOutput *output);

/* Waits a little, at the end, for what is queued. */
void ald_output_finish(AldOutput *output);
