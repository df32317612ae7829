/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/schema.h"

/* A token ties a data connection to its session. It is a secret for one connection, sent over TLS, valid once
 * and for a short time. Pure except for the random numbers. */

#define ALD_TOKEN_SIZE 32u /* hexadecimal digits, without a NUL */
#define ALD_TOKENS_MAX 16u

typedef struct AldToken {
        char text[ALD_TOKEN_SIZE + 1]; /* "": free */
        AldSocketOpenPurpose purpose;
        uint64_t expires;
} AldToken;

typedef struct AldTokens {
        AldToken tokens[ALD_TOKENS_MAX];
} AldTokens;

/* Makes a token that is valid until it expires. Returns -ENOSPC if too many are unused, -EIO without random
 * numbers. */
int ald_tokens_issue(AldTokens *tokens, AldSocketOpenPurpose purpose, uint64_t now, uint64_t expires,
        char ret[static ALD_TOKEN_SIZE + 1]);

/* Returns whether the text is a valid token, and uses it up. */
bool ald_tokens_take(
        AldTokens *tokens, const char text[static ALD_TOKEN_SIZE], uint64_t now, AldSocketOpenPurpose *ret);

/* Invalidates the tokens for this purpose. */
void ald_tokens_withdraw(AldTokens *tokens, AldSocketOpenPurpose purpose);

/* Returns whether the text has the form of a token. */
bool ald_token_is_well_formed(const char *text);
