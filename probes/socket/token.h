/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What ties a data connection to its session: a secret for one connection, told over TLS, good once and for a
 * short time. Pure but for the random numbers. */

#define ALD_TOKEN_SIZE 32u /* hexadecimal digits, without a NUL */
#define ALD_TOKENS_MAX 16u

typedef enum AldPurpose {
        ALD_PURPOSE_RTT,
        ALD_PURPOSE_UPLOAD,
        ALD_PURPOSE_DOWNLOAD,
        ALD_PURPOSE_SPOT_UPLOAD,
        ALD_PURPOSE_SPOT_DOWNLOAD,
        _ALD_PURPOSE_MAX,
} AldPurpose;

typedef struct AldToken {
        char text[ALD_TOKEN_SIZE + 1]; /* "": free */
        AldPurpose purpose;
        uint64_t expires;
} AldToken;

typedef struct AldTokens {
        AldToken tokens[ALD_TOKENS_MAX];
} AldTokens;

/* Makes one that is good until then. -ENOSPC where too many are unused, -EIO where nothing random is to be
 * had. */
int ald_tokens_issue(AldTokens *tokens, AldPurpose purpose, uint64_t now, uint64_t expires,
        char ret[static ALD_TOKEN_SIZE + 1]);

/* Whether the text is one that is good; it is not any more then. */
bool ald_tokens_take(
        AldTokens *tokens, const char text[static ALD_TOKEN_SIZE], uint64_t now, AldPurpose *ret);

/* Those for this purpose are not good any more. */
void ald_tokens_withdraw(AldTokens *tokens, AldPurpose purpose);
