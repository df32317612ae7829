/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/inhibit-what.h"
#include "services/link-probe/inhibitor-file.h"

/* The locks by which others hold off probes: each until the last copy of its file descriptor is closed. */
typedef struct AldInhibitors AldInhibitors;

#define ALD_INHIBITORS_MAX 256u
#define ALD_INHIBITORS_PER_USER_MAX 32u

/* Takes over the locks that are held in the directory, which is made where it is missing. Without it, or
 * where it cannot be written, there will be none. Called where what is held changes. */
AldInhibitors *ald_inhibitors_new(const char *directory, void (*changed)(void *userdata), void *userdata);
void ald_inhibitors_free(AldInhibitors *inhibitors);

/* *ret_fd is the caller's, to be handed out and closed. -ENOSPC where the user has too many, -EUSERS where
 * there are too many in all. Number of `lock` is not looked at. */
int ald_inhibitors_add(AldInhibitors *inhibitors, const AldInhibitorFile *lock, int *ret_fd);

/* What is held off now. */
unsigned ald_inhibitors_what(const AldInhibitors *inhibitors);

/* The oldest lock that holds off one of these, or NULL. */
const AldInhibitorFile *ald_inhibitors_find(const AldInhibitors *inhibitors, unsigned what);
/* Who holds it and why, in words, or NULL. Free with g_free(). */
char *ald_inhibitors_reason(const AldInhibitors *inhibitors, unsigned what);

/* Ends a lock that is still held. -ENOENT where there is none of that number. */
int ald_inhibitors_release(AldInhibitors *inhibitors, unsigned number);

unsigned ald_inhibitors_count(const AldInhibitors *inhibitors);
const AldInhibitorFile *ald_inhibitors_at(const AldInhibitors *inhibitors, unsigned i);
