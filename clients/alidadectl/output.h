/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stddef.h>

/*
 * Writes to a terminal or pipe without blocking: while a terminal is stopped or the reader of a pipe is slow,
 * the bus must still be read.
 */
typedef struct AldOutput AldOutput;

/* r is 0 once the queue is written, or a negative errno if the output has failed. */
typedef void (*AldOutputHandler)(AldOutput *output, int r, void *userdata);

/* Creates an output that runs in the thread-default main context. Negative errno. */
int ald_output_new(int fd, AldOutputHandler handler, void *userdata, AldOutput **ret);
void ald_output_free(AldOutput *output);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldOutput, ald_output_free)

/* Writes as much as possible and queues the rest. */
void ald_output_write(AldOutput *output, const char *data, size_t size);

/* Returns the number of bytes in the queue. */
size_t ald_output_pending(AldOutput *output);

/* Waits briefly until the queue is written, for use at the end. */
void ald_output_finish(AldOutput *output);
