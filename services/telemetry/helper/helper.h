/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <glib.h>

/*
 * A helper program in a process of its own, which loads vendor libraries, since these may hang or crash. It
 * receives a request on its standard input and answers on its standard output, which are the same
 * SOCK_SEQPACKET socket. Nothing here blocks: the main loop waits for the answer until a deadline. A helper
 * that fails is killed with its process group and is restarted only after a pause, which doubles each time,
 * and only when the process no longer exists, so that a process stuck in a driver is not joined by a second
 * one.
 */
typedef struct AldChild AldChild;

/* Maximum size of a message in either direction. */
#define ALD_CHILD_MESSAGE_MAX (64u * 1024)

/* All times are in milliseconds. */
typedef struct AldChildTiming {
        unsigned first;     /* from the start to the first answer: the helper loads a driver meanwhile */
        unsigned answer;    /* from a request to its answer */
        unsigned retry;     /* the pause after the first failure */
        unsigned retry_max; /* the longest pause */
        unsigned healthy;   /* after answering for this long, its failures are forgotten */
} AldChildTiming;

typedef struct AldChildInfo {
        const char *program; /* file name of the helper */

        /* Handles one answer, which is terminated. Returns NULL if it is valid, else the reason why the
         * helper has failed. */
        char *(*answered)(const char *text, size_t length, void *userdata);
        /* The helper has failed, so its earlier answers no longer hold. May be NULL. */
        void (*failed)(const char *reason, void *userdata);
        /* The process no longer exists. May be NULL. */
        void (*gone)(void *userdata);
} AldChildInfo;

/* Creates a child without starting it. Info and timing must outlive it, and no callback may free it. */
AldChild *ald_child_new(
        const AldChildInfo *info, const AldChildTiming *timing, const char *directory, void *userdata);

/* Kills the process and waits for its end, at most a second. */
void ald_child_free(AldChild *child);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldChild, ald_child_free)

/* Sets a variable in the environment of future processes. */
void ald_child_setenv(AldChild *child, const char *name, const char *value);

/*
 * Starts the helper unless it runs, and sends it the request, which is NULL for a helper that answers without
 * one. Returns -EBUSY while an answer is awaited, -EAGAIN during the pause after a failure; other errors
 * count as failures.
 */
int ald_child_ask(AldChild *child, const char *request);

/* Ends the helper, which does not count as a failure. Later answers are ignored. */
void ald_child_end(AldChild *child);

/* Returns whether neither an earlier process nor a recent failure prevents a new start. */
bool ald_child_may_start(const AldChild *child);

/* Returns whether the process exists. */
bool ald_child_alive(const AldChild *child);

/* Returns why the helper does not work at present, or NULL. */
const char *ald_child_reason(const AldChild *child);

/* Returns the current pause in milliseconds; 0 without a failure. */
unsigned ald_child_pause(const AldChild *child);
