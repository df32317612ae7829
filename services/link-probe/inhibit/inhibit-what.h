/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* The kinds of locks, each with its word, in the order in which the words are listed. */
#define ALD_INHIBIT_LIST(X)   \
        X(COMPUTE, "compute") \
        X(RDMA, "rdma")       \
        X(LINK, "link")       \
        X(STORAGE, "storage")

#define ALD_INHIBIT_NUMBER(NAME, word) ALD_INHIBIT_NUMBER_##NAME,
enum { ALD_INHIBIT_LIST(ALD_INHIBIT_NUMBER) ALD_INHIBIT_KINDS };

/* The same kinds as bits of a set. */
#define ALD_INHIBIT_BIT(NAME, word) ALD_INHIBIT_##NAME = 1 << ALD_INHIBIT_NUMBER_##NAME,
typedef enum AldInhibit {
        ALD_INHIBIT_LIST(ALD_INHIBIT_BIT) ALD_INHIBIT_ALL = (1 << ALD_INHIBIT_KINDS) - 1,
} AldInhibit;

#define ALD_INHIBIT_TEXT_MAX 255u

/* Parses a list such as "compute:link"; -EINVAL for unknown or repeated words. */
int ald_inhibit_what_parse(const char *text);

/* Returns the words of a set, NULL-terminated and in a fixed order. The strings are static. */
void ald_inhibit_what_words(unsigned what, const char *ret[static ALD_INHIBIT_KINDS + 1]);

/* Returns all words as part of a sentence: "compute, rdma, link and storage". Free with g_free(). */
char *ald_inhibit_what_list(void);

/* Returns whether the text is valid for Who or Why: not empty, printable, not too long. */
bool ald_inhibit_text_ok(const char *text);
