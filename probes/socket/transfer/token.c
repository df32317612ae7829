/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include "probes/socket/transfer/token.h"

int ald_tokens_issue(AldTokens *tokens, AldSocketOpenPurpose purpose, uint64_t now, uint64_t expires,
        char ret[static ALD_TOKEN_SIZE + 1])
{
        unsigned char random[ALD_TOKEN_SIZE / 2];

        for (size_t i = 0; i < ALD_TOKENS_MAX; i++) {
                AldToken *token = &tokens->tokens[i];

                if (token->text[0] && token->expires > now)
                        continue;
                if (RAND_bytes(random, sizeof random) != 1)
                        return -EIO;
                for (size_t byte = 0; byte < sizeof random; byte++)
                        snprintf(token->text + 2 * byte, 3, "%02x", random[byte]);
                token->purpose = purpose;
                token->expires = expires;
                memcpy(ret, token->text, sizeof token->text);
                return 0;
        }
        return -ENOSPC;
}

bool ald_tokens_take(
        AldTokens *tokens, const char text[static ALD_TOKEN_SIZE], uint64_t now, AldSocketOpenPurpose *ret)
{
        AldToken *found = NULL;

        /* All tokens are compared, each in constant time, so that the time reveals nothing about them. */
        for (size_t i = 0; i < ALD_TOKENS_MAX; i++)
                if (CRYPTO_memcmp(tokens->tokens[i].text, text, ALD_TOKEN_SIZE) == 0)
                        found = &tokens->tokens[i];
        if (!found || found->expires <= now)
                return false;
        *ret = found->purpose;
        *found = (AldToken){};
        return true;
}

void ald_tokens_withdraw(AldTokens *tokens, AldSocketOpenPurpose purpose)
{
        for (size_t i = 0; i < ALD_TOKENS_MAX; i++)
                if (tokens->tokens[i].purpose == purpose)
                        tokens->tokens[i] = (AldToken){};
}

bool ald_token_is_well_formed(const char *text)
{
        return strlen(text) == ALD_TOKEN_SIZE && strspn(text, "0123456789abcdef") == ALD_TOKEN_SIZE;
}
