/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clients/exporter/exporter-config.h"
#include "clients/exporter/listen-sockets.h"
#include "common/fd.h"
#include "tests/unit/log-count.h"

static void test_addresses(void)
{
        static const char *const good[] = { "127.0.0.1:10001", "0.0.0.0:1", "[::1]:65535",
                "[2001:db8::1]:80" };
        static const char *const bad[] = { "", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0",
                "127.0.0.1:65536", "::1:80", "[::1]", "[::1]:", "[]:80", "[127.0.0.1]:80", "localhost:80",
                "1.2.3:80", "[::1:80", "::1]:80", "127.0.0.1:80 ", "[fe80::1%eth0]:80" };

        for (size_t i = 0; i < G_N_ELEMENTS(good); i++)
                g_assert_null(ald_listen_refuse_address(good[i]));
        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
                g_assert_nonnull(ald_listen_refuse_address(bad[i]));
}

static void assert_refused(const char *address)
{
        g_autoptr(GArray) fds = g_array_new(FALSE, FALSE, sizeof(int));

        log_count_reset();
        g_assert_cmpint(ald_listen_bind(address, fds), <, 0);
        g_assert_cmpuint(log_count("Cannot listen on"), ==, 1);
        g_assert_cmpuint(fds->len, ==, 0);
}

/* A port that is free now. */
static unsigned free_port(void)
{
        struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t size = sizeof(address);
        ald_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        g_assert_cmpint(bind(fd, (struct sockaddr *) &address, size), ==, 0);
        g_assert_cmpint(getsockname(fd, (struct sockaddr *) &address, &size), ==, 0);
        return ntohs(address.sin_port);
}

static void test_sockets(void)
{
        g_autoptr(GArray) fds = g_array_new(FALSE, FALSE, sizeof(int));
        g_autofree char *address = g_strdup_printf("127.0.0.1:%u", free_port()), *described = NULL;
        int fd;

        g_assert_cmpint(ald_listen_bind(address, fds), ==, 0);
        g_assert_cmpuint(fds->len, ==, 1);
        fd = g_array_index(fds, int, 0);
        described = ald_listen_describe(fd);
        g_assert_cmpstr(described, ==, address);
        g_assert_true(ald_listen_is_local(fd));
        assert_refused(address);
        assert_refused("198.51.100.7:80");
        close(fd);
}

typedef struct Files {
        char *directory, *token, *config;
} Files;

static void files_init(Files *files, const char *token)
{
        files->directory = g_dir_make_tmp("exporter-XXXXXX", NULL);
        files->token = g_build_filename(files->directory, "token", NULL);
        files->config = g_build_filename(files->directory, "alidade.conf", NULL);
        g_assert_true(g_file_set_contents(files->token, token, -1, NULL));
}

static int read_secrets(Files *files, const char *text, AldExporterSecrets *ret)
{
        AldConfig *config;
        int r;

        g_assert_true(g_file_set_contents(files->config, text, -1, NULL));
        config = ald_config_load(ald_exporter_keys, files->directory);
        r = ald_exporter_secrets_read(config, ret);
        ald_config_free(config);
        return r;
}

static void files_clear(Files *files)
{
        unlink(files->token);
        unlink(files->config);
        rmdir(files->directory);
        g_free(files->directory);
        g_free(files->token);
        g_free(files->config);
}

static void test_token(void)
{
        static const struct {
                const char *authorization;
                bool may;
        } cases[] = { { NULL, false }, { "", false }, { "Bearer 0123456789abcdef", true },
                { "bearer 0123456789abcdef", true }, { "Bearer 0123456789abcdeF", false },
                { "Bearer 0123456789abcde", false }, { "Bearer 0123456789abcdef0", false },
                { "Bearer ", false }, { "Bearer", false }, { "0123456789abcdef", false },
                { "Bearer  0123456789abcdef", false } };
        g_auto(AldExporterSecrets) secrets = {};
        g_autofree char *text = NULL;
        Files files;

        g_assert_true(ald_exporter_may_answer(&secrets, NULL));
        files_init(&files, "  0123456789abcdef\n");
        text = g_strdup_printf("[exporter]\ntoken-file=%s\n", files.token);
        g_assert_cmpint(read_secrets(&files, text, &secrets), ==, 0);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                g_assert_cmpint(ald_exporter_may_answer(&secrets, cases[i].authorization), ==, cases[i].may);
        files_clear(&files);
}

static void test_unusable_files(void)
{
        static const char *const tokens[] = { "", "short", "0123456789 abcdef", "0123456789abcd\xc3\xa9" };
        g_autofree char *huge = g_strnfill(100000, 'a');

        for (size_t i = 0; i <= G_N_ELEMENTS(tokens); i++) {
                g_auto(AldExporterSecrets) secrets = {};
                g_autofree char *text = NULL;
                Files files;

                files_init(&files, i < G_N_ELEMENTS(tokens) ? tokens[i] : huge);
                text = g_strdup_printf("[exporter]\ntoken-file=%s\n", files.token);
                log_count_reset();
                g_assert_cmpint(read_secrets(&files, text, &secrets), <, 0);
                g_assert_cmpuint(log_count("token"), ==, 1);
                g_assert_null(secrets.token);
                log_count_reset();
                g_assert_cmpint(
                        read_secrets(&files, "[exporter]\ntls-key=/nonexistent\n", &secrets), ==, -ENOENT);
                g_assert_cmpuint(log_count("tls-key=/nonexistent cannot be read"), ==, 1);
                files_clear(&files);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        /* Refusals are critical, but not an error of the program. */
        g_log_set_always_fatal(G_LOG_LEVEL_ERROR);
        g_test_add_func("/exporter-config/addresses", test_addresses);
        g_test_add_func("/exporter-config/sockets", test_sockets);
        g_test_add_func("/exporter-config/token", test_token);
        g_test_add_func("/exporter-config/unusable-files", test_unusable_files);
        return g_test_run();
}
