/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ALD_STREAM_CHUNK (256u * 1024) /* bytes handed to the kernel at once */
#define ALD_STREAM_STACK (128u * 1024)

/* The data that the streams of one direction share. */
typedef struct AldStreamShared {
        uint8_t *chunk;            /* random, so that nothing on the path can compress it */
        uint64_t bytes_max;        /* of all of them together */
        atomic_uint_fast64_t sent; /* by all of them, handed to the kernel */
        atomic_uint_fast64_t lost; /* of these, dropped with a connection that the other side closed */
        atomic_bool zerocopy;      /* worth trying */
        atomic_bool stop;
} AldStreamShared;

/* One data connection, and the thread that sends or receives on it. */
typedef struct AldStream {
        int fd; /* blocking */
        AldStreamShared *shared;
        pthread_t thread;
        atomic_int tid; /* 0 until it runs */
        atomic_bool ended;
} AldStream;

/* Fills the buffer with random bytes. Returns -EIO if there are none. */
int ald_stream_fill_random(uint8_t *bytes, size_t n);

/* Starts a thread with a small stack. */
int ald_stream_start_thread(pthread_t *ret, void *(*run)(void *), void *data);

/* Resets a connection, which drops the data under way. Its descriptor stays open. */
void ald_stream_reset(int fd);

/* Sets the options of a data connection: lower effort (DSCP), and little unsent data in the kernel. */
void ald_stream_prepare(int fd);

/* Starts the thread, and takes ownership of fd on success. */
int ald_stream_start(AldStream *stream, int fd, bool sending, AldStreamShared *shared);

/* Ends the thread and resets the connection, which drops the data under way. */
void ald_stream_stop(AldStream *stream);
