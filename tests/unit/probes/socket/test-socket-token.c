/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <glib.h>

#include "probes/socket/transfer/token.h"

static void test_once(void)
{
        char first[ALD_TOKEN_SIZE + 1], second[ALD_TOKEN_SIZE + 1];
        AldTokens tokens = {};
        AldSocketOpenPurpose purpose;

        g_assert_cmpint(ald_tokens_issue(&tokens, ALD_SOCKET_OPEN_PURPOSE_UPLOAD, 10, 20, first), ==, 0);
        g_assert_cmpint(ald_tokens_issue(&tokens, ALD_SOCKET_OPEN_PURPOSE_RTT, 10, 20, second), ==, 0);
        g_assert_cmpstr(first, !=, second);
        g_assert_cmpuint(strspn(first, "0123456789abcdef"), ==, ALD_TOKEN_SIZE);
        g_assert_true(ald_tokens_take(&tokens, second, 11, &purpose));
        g_assert_cmpint(purpose, ==, ALD_SOCKET_OPEN_PURPOSE_RTT);
        g_assert_false(ald_tokens_take(&tokens, second, 11, &purpose));
        g_assert_true(ald_tokens_take(&tokens, first, 19, &purpose));
        g_assert_cmpint(purpose, ==, ALD_SOCKET_OPEN_PURPOSE_UPLOAD);
        g_assert_false(ald_tokens_take(&tokens, first, 19, &purpose));
}

static void test_not_good(void)
{
        static const char zeros[ALD_TOKEN_SIZE] = {};
        char text[ALD_TOKEN_SIZE + 1];
        AldTokens tokens = {};
        AldSocketOpenPurpose purpose;

        g_assert_false(ald_tokens_take(&tokens, zeros, 0, &purpose));
        ald_tokens_issue(&tokens, ALD_SOCKET_OPEN_PURPOSE_UPLOAD, 10, 20, text);
        g_assert_false(ald_tokens_take(&tokens, zeros, 11, &purpose));
        text[5] ^= 1;
        g_assert_false(ald_tokens_take(&tokens, text, 11, &purpose));
        text[5] ^= 1;
        g_assert_false(ald_tokens_take(&tokens, text, 20, &purpose));
        ald_tokens_issue(&tokens, ALD_SOCKET_OPEN_PURPOSE_UPLOAD, 10, 20, text);
        ald_tokens_withdraw(&tokens, ALD_SOCKET_OPEN_PURPOSE_UPLOAD);
        g_assert_false(ald_tokens_take(&tokens, text, 11, &purpose));
}

static void test_limit(void)
{
        char text[ALD_TOKEN_SIZE + 1];
        AldTokens tokens = {};

        for (unsigned i = 0; i < ALD_TOKENS_MAX; i++)
                g_assert_cmpint(ald_tokens_issue(&tokens, ALD_SOCKET_OPEN_PURPOSE_RTT, 10, 20, text), ==, 0);
        g_assert_cmpint(ald_tokens_issue(&tokens, ALD_SOCKET_OPEN_PURPOSE_RTT, 19, 30, text), ==, -ENOSPC);
        g_assert_cmpint(ald_tokens_issue(&tokens, ALD_SOCKET_OPEN_PURPOSE_RTT, 20, 30, text), ==, 0);
}

static void test_form(void)
{
        static const char *const bad[] = { "", "short", "0123456789abcdef0123456789abcde",
                "0123456789abcdef0123456789abcdef0", "0123456789ABCDEF0123456789ABCDEF",
                "0123456789abcdef0123456789abcdeg" };
        char text[ALD_TOKEN_SIZE + 1];
        AldTokens tokens = {};

        ald_tokens_issue(&tokens, ALD_SOCKET_OPEN_PURPOSE_RTT, 10, 20, text);
        g_assert_true(ald_token_is_well_formed(text));
        for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++)
                g_assert_false(ald_token_is_well_formed(bad[i]));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/socket/token/once", test_once);
        g_test_add_func("/socket/token/not-good", test_not_good);
        g_test_add_func("/socket/token/limit", test_limit);
        g_test_add_func("/socket/token/form", test_form);
        return g_test_run();
}
