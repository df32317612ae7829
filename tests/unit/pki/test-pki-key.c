/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include "pki/file.h"
#include "pki/openssl.h"
#include "pki/private-key.h"

typedef struct Folder {
        char *path;
        char *file;
} Folder;

static void set_up(Folder *folder, const void *data)
{
        folder->path = g_dir_make_tmp("alidade-pki-XXXXXX", NULL);
        folder->file = g_build_filename(folder->path, "node.key", NULL);
}

static void tear_down(Folder *folder, const void *data)
{
        g_autoptr(GDir) dir = g_dir_open(folder->path, 0, NULL);
        const char *name;

        while ((name = g_dir_read_name(dir))) {
                g_autofree char *path = g_build_filename(folder->path, name, NULL);

                g_assert_cmpint(g_remove(path), ==, 0);
        }
        g_assert_cmpint(g_rmdir(folder->path), ==, 0);
        g_free(folder->path);
        g_free(folder->file);
}

static unsigned count_files(const Folder *folder)
{
        g_autoptr(GDir) dir = g_dir_open(folder->path, 0, NULL);
        unsigned n = 0;

        while (g_dir_read_name(dir))
                n++;
        return n;
}

static void test_save_and_load(Folder *folder, const void *data)
{
        g_autoptr(EVP_PKEY) key = NULL, loaded = NULL;
        struct stat st;

        g_assert_cmpint(ald_pki_key_generate(&key, NULL), ==, 0);
        g_assert_true(ald_pki_key_is_p256(key));
        g_assert_cmpint(ald_pki_key_save(key, folder->file, 0640, (uid_t) -1, (gid_t) -1, NULL), ==, 0);
        g_assert_cmpint(g_stat(folder->file, &st), ==, 0);
        g_assert_cmpint(st.st_mode, ==, S_IFREG | 0640);
        g_assert_cmpint(ald_pki_key_load(folder->file, &loaded, NULL), ==, 0);
        g_assert_cmpint(EVP_PKEY_eq(key, loaded), ==, 1);
        g_assert_cmpuint(ERR_peek_error(), ==, 0);
}

static void test_replaced_at_once(Folder *folder, const void *data)
{
        g_autofree char *text = NULL;
        mode_t mask = umask(0777);
        char before[8] = "";
        struct stat st;
        int fd;

        g_assert_cmpint(ald_pki_file_write(folder->file, "before", 0644, (uid_t) -1, (gid_t) -1), ==, 0);
        fd = open(folder->file, O_RDONLY | O_CLOEXEC);
        g_assert_cmpint(ald_pki_file_write(folder->file, "after", 0600, (uid_t) -1, (gid_t) -1), ==, 0);
        umask(mask);
        g_assert_cmpint(read(fd, before, sizeof before), ==, 6);
        close(fd);
        g_assert_cmpstr(before, ==, "before");
        g_assert_cmpint(ald_pki_file_read(folder->file, 5, &text, NULL), ==, 0);
        g_assert_cmpstr(text, ==, "after");
        g_assert_cmpint(g_stat(folder->file, &st), ==, 0);
        g_assert_cmpint(st.st_mode & 07777, ==, 0600);
        g_assert_cmpuint(count_files(folder), ==, 1);
}

static void test_owner(Folder *folder, const void *data)
{
        struct stat st;

        if (geteuid() != 0) {
                g_test_skip("only root gives files away");
                return;
        }
        g_assert_cmpint(ald_pki_file_write(folder->file, "x", 0640, 4321, 1234), ==, 0);
        g_assert_cmpint(g_stat(folder->file, &st), ==, 0);
        g_assert_cmpuint(st.st_uid, ==, 4321);
        g_assert_cmpuint(st.st_gid, ==, 1234);
        g_assert_cmpint(st.st_mode & 07777, ==, 0640);
}

static void test_failed_write_leaves_nothing(Folder *folder, const void *data)
{
        g_autofree char *inside = g_build_filename(folder->file, "x", NULL);
        g_autofree char *error = NULL;
        g_autoptr(EVP_PKEY) key = NULL;

        /* A folder that is not empty cannot be replaced by a file. */
        g_assert_cmpint(g_mkdir(folder->file, 0700), ==, 0);
        g_assert_true(g_file_set_contents(inside, "", 0, NULL));
        g_assert_cmpint(ald_pki_file_write(folder->file, "x", 0600, (uid_t) -1, (gid_t) -1), ==, -EISDIR);
        g_assert_cmpuint(count_files(folder), ==, 1);
        g_assert_cmpint(g_remove(inside), ==, 0);

        g_assert_cmpint(ald_pki_key_generate(&key, NULL), ==, 0);
        g_assert_cmpint(
                ald_pki_key_save(key, "/nonexistent/key", 0600, (uid_t) -1, (gid_t) -1, &error), ==, -ENOENT);
        g_assert_cmpstr(error, ==, "Cannot write /nonexistent/key: No such file or directory");
}

static void test_read_refusals(Folder *folder, const void *data)
{
        g_autofree char *text = NULL, *missing = NULL, *pipe = NULL;
        g_autoptr(EVP_PKEY) key = NULL;

        g_assert_true(g_file_set_contents(folder->file, "123456", 6, NULL));
        g_assert_cmpint(ald_pki_file_read(folder->file, 5, &text, NULL), ==, -EFBIG);
        g_assert_null(text);
        g_assert_cmpint(g_remove(folder->file), ==, 0);
        g_assert_cmpint(ald_pki_key_load(folder->file, &key, &missing), ==, -ENOENT);
        g_assert_true(g_str_has_suffix(missing, "node.key: No such file or directory"));
        g_assert_cmpint(mkfifo(folder->file, 0600), ==, 0);
        g_assert_cmpint(ald_pki_key_load(folder->file, &key, &pipe), ==, -EINVAL);
        g_assert_true(g_str_has_suffix(pipe, "node.key is not a regular file"));
        g_assert_null(key);
}

static char *encrypted_key(void)
{
        g_autoptr(BIO) bio = BIO_new(BIO_s_mem());
        g_autoptr(EVP_PKEY) key = NULL;
        char *text;
        long n;

        g_assert_cmpint(ald_pki_key_generate(&key, NULL), ==, 0);
        g_assert_true(PEM_write_bio_PKCS8PrivateKey(bio, key, EVP_aes_128_cbc(), "secret", 6, NULL, NULL));
        n = BIO_get_mem_data(bio, &text);
        return g_strndup(text, (gsize) n);
}

static void test_bad_keys(void)
{
        g_autofree char *encrypted = encrypted_key(), *cut = g_strndup(encrypted, 100);
        g_autofree char *huge = g_strnfill(ALD_PKI_PEM_MAX + 1, 'A');
        const char *bad[] = { "", "rubbish", encrypted, cut };
        g_autofree char *too_big = NULL;
        g_autoptr(EVP_PKEY) key = NULL;

        for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
                g_autofree char *error = NULL;

                g_assert_cmpint(ald_pki_key_parse(bad[i], strlen(bad[i]), &key, &error), ==, -EBADMSG);
                g_assert_true(g_str_has_prefix(error, "not a key without a passphrase: "));
                g_assert_cmpuint(ERR_peek_error(), ==, 0);
        }
        g_assert_cmpint(ald_pki_key_parse(huge, strlen(huge), &key, &too_big), ==, -E2BIG);
        g_assert_cmpstr(too_big, ==, "the key is too big: 65537 bytes, at most 65536 are read");
        g_assert_null(key);
}

static void test_other_curve(void)
{
        g_autoptr(EVP_PKEY) p384 = EVP_EC_gen("P-384"), rsa = EVP_RSA_gen(2048);

        g_assert_false(ald_pki_key_is_p256(p384));
        g_assert_false(ald_pki_key_is_p256(rsa));
}

static void test_error_queue(void)
{
        g_autofree char *three = NULL, *none = NULL, *with_what = NULL;

        for (int i = 0; i < 2; i++)
                ERR_raise(ERR_LIB_PEM, PEM_R_NO_START_LINE);
        ERR_raise_data(ERR_LIB_X509, X509_R_KEY_VALUES_MISMATCH, "of\nnode %d", 7);
        ERR_raise(ERR_LIB_SYS, ENOENT);
        ERR_raise(ERR_LIB_PEM, PEM_R_BAD_END_LINE);
        three = ald_pki_take_openssl_error();
        g_assert_cmpstr(
                three, ==, "no start line, key values mismatch (of node 7), No such file or directory");
        g_assert_cmpuint(ERR_peek_error(), ==, 0);
        none = ald_pki_take_openssl_error();
        g_assert_cmpstr(none, ==, "unknown reason");
        ERR_raise(ERR_LIB_PEM, PEM_R_BAD_END_LINE);
        g_assert_cmpint(ald_pki_openssl_failed(-EIO, "Cannot do it", &with_what), ==, -EIO);
        g_assert_cmpstr(with_what, ==, "Cannot do it: bad end line");
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add("/pki/key/save-and-load", Folder, NULL, set_up, test_save_and_load, tear_down);
        g_test_add("/pki/file/replaced-at-once", Folder, NULL, set_up, test_replaced_at_once, tear_down);
        g_test_add("/pki/file/owner", Folder, NULL, set_up, test_owner, tear_down);
        g_test_add(
                "/pki/file/failed-write", Folder, NULL, set_up, test_failed_write_leaves_nothing, tear_down);
        g_test_add("/pki/file/read-refusals", Folder, NULL, set_up, test_read_refusals, tear_down);
        g_test_add_func("/pki/key/bad", test_bad_keys);
        g_test_add_func("/pki/key/other-curve", test_other_curve);
        g_test_add_func("/pki/error", test_error_queue);
        return g_test_run();
}
