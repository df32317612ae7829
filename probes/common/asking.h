/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What whoever runs a session says of it, once it knows with whom that is. */

#define ALD_ASKING_MAX 1024u

typedef struct AldAsking {
        char line[ALD_ASKING_MAX];
        const char *busy, *inhibited; /* in that line: why not; NULL both where it may go on */
} AldAsking;

/* Reads it; a negative errno where there is no answer, or none that makes sense. */
int ald_asking_read(int fd, AldAsking *ret);
