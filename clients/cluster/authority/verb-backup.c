/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <jansson.h>
#include <openssl/crypto.h>

#include "clients/cluster/authority/authority.h"
#include "clients/cluster/authority/own-certificates.h"
#include "clients/cluster/broker/addresses.h"
#include "clients/cluster/command-report.h"
#include "clients/cluster/enrolment/enrol.h"
#include "clients/cluster/input-output.h"
#include "clients/cluster/services.h"
#include "clients/command-line/print.h"
#include "pki/encryption.h"
#include "pki/file.h"

/*
 * Saves the certificate authority of a cluster in one file, encrypted with a passphrase, so that another
 * machine can take its place. The file contains no keys of nodes: a machine that restores it keeps its own
 * identity.
 */

#define BACKUP_VERSION 1
#define FILE_BYTES_MAX (1024u * 1024)
#define BACKUP_BYTES_MAX (256u * 1024 * 1024)
#define PASSPHRASE_MAX 1024u
#define ISSUED_PREFIX "ca/issued/"
#define CA_KEY "ca/ca.key"

static const char *const saved_files[] = { "ca.crt", "crl.pem", CA_KEY, "ca/crl-number" };

/* Reads a line from standard input, without showing it at a terminal. Returns whether it is a terminal; the
 * line is "" at the end of the input. */
static bool read_line(char *line, size_t size, const char *prompt)
{
        struct termios before, quiet;
        bool terminal = tcgetattr(STDIN_FILENO, &before) == 0, got;

        if (terminal) {
                fprintf(stderr, "%s: ", prompt);
                quiet = before;
                quiet.c_lflag &= (tcflag_t) ~ECHO;
                (void) tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
        }
        got = fgets(line, (int) size, stdin) != NULL;
        if (terminal) {
                (void) tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
                fputc('\n', stderr);
        }
        if (!got)
                *line = '\0';
        line[strcspn(line, "\r\n")] = '\0';
        return terminal;
}

/* Reads a passphrase from standard input. At a terminal, asks for a new one twice. */
static int read_passphrase(char line[static PASSPHRASE_MAX], bool is_new)
{
        char again[PASSPHRASE_MAX];
        bool same = true;

        if (read_line(line, PASSPHRASE_MAX, "Passphrase") && is_new) {
                (void) read_line(again, sizeof again, "Again");
                same = strcmp(line, again) == 0;
                OPENSSL_cleanse(again, sizeof again);
        }
        if (same && *line)
                return ALD_EXIT_OK;
        ald_print_error(same ? "No passphrase on standard input" : "The passphrases differ");
        return ALD_EXIT_ERROR;
}

static int add_file(const AldClusterFiles *files, json_t *object, const char *name)
{
        g_autofree char *path = g_build_filename(files->folder, name, NULL), *text = NULL;
        int r = ald_pki_file_read(path, FILE_BYTES_MAX, &text, NULL);

        if (r < 0)
                return ald_report_failure(r, path, NULL);
        json_object_set_new(object, name, json_string(text));
        return ALD_EXIT_OK;
}

static int collect_backup(const AldAuthority *authority, char **ret)
{
        const AldClusterFiles *files = authority->files;
        json_t *contents = json_object(), *brokers = json_array();
        json_t *object = json_pack("{sisssoso}", "AlidadeBackup", BACKUP_VERSION, "Cluster", files->name,
                "Brokers", brokers, "Files", contents);
        int r = ALD_EXIT_OK;
        char *made;

        for (char **broker = files->brokers; *broker; broker++)
                json_array_append_new(brokers, json_string(*broker));
        for (size_t i = 0; i < G_N_ELEMENTS(saved_files) && r == ALD_EXIT_OK; i++)
                r = add_file(files, contents, saved_files[i]);
        for (guint i = 0; i < authority->issued->len && r == ALD_EXIT_OK; i++) {
                const AldIssued *one = authority->issued->pdata[i];
                g_autofree char *base = g_path_get_basename(one->path),
                                *name = g_strconcat(ISSUED_PREFIX, base, NULL);

                r = add_file(files, contents, name);
        }
        /* Sorts the keys, so that equal backups are equal text, whatever the order of files in a folder
         * is. */
        made = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS);
        json_decref(object);
        if (r == ALD_EXIT_OK)
                *ret = g_strdup(made);
        OPENSSL_cleanse(made, strlen(made));
        free(made);
        return r;
}

/* Returns whether a file already contains the same backup, for the same passphrase. */
static bool has_backup(const char *path, const char *text, const char *passphrase)
{
        g_autofree char *encrypted = NULL, *reason = NULL;
        char *found = NULL;
        bool same;

        if (ald_pki_file_read(path, BACKUP_BYTES_MAX, &encrypted, NULL) < 0 ||
                ald_pki_decrypt(encrypted, passphrase, &found, &reason) < 0)
                return false;
        same = strcmp(found, text) == 0;
        OPENSSL_cleanse(found, strlen(found));
        g_free(found);
        return same;
}

static int write_backup(
        const AldClusterFiles *files, const char *path, const char *text, const char *passphrase)
{
        g_autofree char *encrypted = NULL, *reason = NULL;
        int r;

        if (has_backup(path, text, passphrase)) {
                ald_changes_note(files->changes, "Kept %s: it is complete", path);
                return ALD_EXIT_OK;
        }
        r = ald_pki_encrypt(text, passphrase, &encrypted, &reason);
        if (r < 0)
                return ald_report_failure(r, "Cannot create the backup", reason);
        r = ald_output_write_file(files->changes, path, encrypted, 0600);
        if (r == ALD_EXIT_OK)
                ald_changes_note_next(files->changes,
                        "With this file and the passphrase, any machine can admit nodes to cluster %s. Make "
                        "a new backup after you sign or revoke",
                        files->name);
        return r;
}

static int ask_passphrase_and_write(const AldClusterFiles *files, const char *path, const char *text)
{
        char passphrase[PASSPHRASE_MAX];
        int r;

        r = read_passphrase(passphrase, true);
        if (r == ALD_EXIT_OK)
                r = write_backup(files, path, text, passphrase);
        OPENSSL_cleanse(passphrase, sizeof passphrase);
        return r;
}

int ald_cluster_backup(const AldClusterCommand *command)
{
        g_auto(AldClusterFiles) files = ALD_FILES_INIT;
        g_auto(AldAuthority) authority = {};
        char *text = NULL;
        int r;

        r = ald_files_open_to_change(&files, command->changes);
        if (r == ALD_EXIT_OK)
                r = ald_authority_open(&files, &authority);
        if (r == ALD_EXIT_OK)
                r = collect_backup(&authority, &text);
        if (r != ALD_EXIT_OK)
                return r;
        r = ask_passphrase_and_write(&files, command->ctl.args[0], text);
        OPENSSL_cleanse(text, strlen(text));
        g_free(text);
        return r;
}

static bool may_restore(const char *name)
{
        const char *serial = name + strlen(ISSUED_PREFIX);
        size_t n;

        for (size_t i = 0; i < G_N_ELEMENTS(saved_files); i++)
                if (strcmp(name, saved_files[i]) == 0)
                        return true;
        if (!g_str_has_prefix(name, ISSUED_PREFIX))
                return false;
        n = strspn(serial, "0123456789abcdef");
        return n > 0 && strcmp(serial + n, ".crt") == 0;
}

/* Returns whether the list of the backup is older than the one here. The newer list is kept, so that nodes
 * revoked since the backup stay revoked. */
static bool is_stale_list(const AldClusterFiles *files, json_t *contents)
{
        const char *ca_text = json_string_value(json_object_get(contents, "ca.crt")),
                   *crl_text = json_string_value(json_object_get(contents, "crl.pem"));
        g_autofree char *path = g_build_filename(files->folder, "crl.pem", NULL);
        g_autoptr(X509_CRL) current = NULL, crl = NULL;
        g_autoptr(X509) ca = NULL;

        return ca_text && crl_text && ald_pki_crl_load(path, &current, NULL) >= 0 &&
               ald_pki_certificate_parse(ca_text, strlen(ca_text), &ca, NULL) >= 0 &&
               ald_pki_crl_parse(crl_text, strlen(crl_text), &crl, NULL) >= 0 &&
               ald_pki_crl_accept(crl, ca, current, NULL) < 0;
}

static int install_file(const AldClusterFiles *files, const char *name, const json_t *value)
{
        g_autofree char *path = g_build_filename(files->folder, name, NULL);
        mode_t mode = g_str_has_prefix(name, "ca/") ? 0600 : 0644;
        const char *text = json_string_value(value);

        if (!text)
                return ALD_EXIT_OK;
        if (g_str_has_prefix(name, ISSUED_PREFIX))
                return ald_files_write(files, path, text, mode);
        return ald_files_install(files, ALD_CHANGE_INSTALL, path, text, mode, "%s", "");
}

/* Installs the key of the authority last: if it exists, the rest is complete. */
static int install_files(const AldClusterFiles *files, json_t *contents)
{
        g_autofree char *issued = g_build_filename(files->folder, "ca", "issued", NULL);
        g_autofree char *folder = g_build_filename(files->folder, "ca", NULL);
        bool stale = is_stale_list(files, contents);
        const char *name;
        json_t *value;
        int r;

        r = ald_files_make_folder(files, folder, 0700);
        if (r == ALD_EXIT_OK)
                r = ald_files_make_folder(files, issued, 0700);
        json_object_foreach(contents, name, value)
                if (r == ALD_EXIT_OK && may_restore(name) && strcmp(name, CA_KEY) != 0 &&
                        !(stale && strcmp(name, "crl.pem") == 0))
                        r = install_file(files, name, value);
        return r == ALD_EXIT_OK ? install_file(files, CA_KEY, json_object_get(contents, CA_KEY)) : r;
}

/* Certifies this machine by the restored authority. With --check the files of the authority do not exist, so
 * this only reports what would happen. */
static int take_over_authority(const AldClusterFiles *files)
{
        g_autofree char *path = g_build_filename(files->folder, "node.crt", NULL);
        g_auto(AldAuthority) authority = {};
        g_autoptr(EVP_PKEY) key = NULL;
        int r;

        if (!files->changes->check || ald_files_is_authority(files)) {
                r = ald_authority_open(files, &authority);
                return r == ALD_EXIT_OK ? ald_own_node_certify(&authority, false) : r;
        }
        if (ald_files_has(files, "node.crt"))
                return ALD_EXIT_OK;
        r = ald_enrol_key(files, false, &key);
        if (r == ALD_EXIT_OK)
                ald_changes_add(files->changes, ALD_CHANGE_INSTALL, path, ", signed here");
        return r;
}

static int restore_backup(AldClusterFiles *files, json_t *backup)
{
        const char *name = json_string_value(json_object_get(backup, "Cluster")), *broker;
        json_t *list = json_object_get(backup, "Brokers"), *value;
        bool was_authority = ald_files_is_authority(files);
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
        g_auto(GStrv) brokers = NULL;
        size_t i;
        int r;

        if (json_integer_value(json_object_get(backup, "AlidadeBackup")) != BACKUP_VERSION || !name ||
                !ald_cluster_name_is_valid(name)) {
                ald_print_error("The backup is of another version of Alidade, or damaged");
                return ALD_EXIT_ERROR;
        }
        json_array_foreach(list, i, value) {
                broker = json_string_value(value);
                if (broker && !ald_broker_refuse(broker))
                        g_strv_builder_add(builder, broker);
        }
        brokers = g_strv_builder_end(builder);
        if (was_authority) {
                ald_changes_note(files->changes, "This machine already keeps the keys of cluster %s", name);
                r = ALD_EXIT_OK;
        } else
                r = install_files(files, json_object_get(backup, "Files"));
        if (r == ALD_EXIT_OK)
                r = take_over_authority(files);
        /* If this machine was the authority already, its list of brokers is newer. */
        if (r == ALD_EXIT_OK && (*files->name == '\0' || !was_authority))
                r = ald_files_configure(files, name, (const char *const *) brokers);
        if (r == ALD_EXIT_OK)
                r = ald_services_apply(files, ALD_SERVICES_CLUSTERD);
        if (r == ALD_EXIT_OK)
                ald_changes_note_next(files->changes,
                        "This machine now keeps the keys of cluster %s. Next: to make it a broker, "
                        "alidadectl cluster renew --broker; to revoke the machine that is gone, alidadectl "
                        "cluster revoke",
                        name);
        return r;
}

/* Refuses the backup of another cluster. A machine that has joined the same cluster may restore it; its own
 * key and certificate stay. */
static int check_cluster(const AldClusterFiles *files, json_t *backup)
{
        const char *text = json_string_value(json_object_get(json_object_get(backup, "Files"), "ca.crt"));
        g_autofree char *path = g_build_filename(files->folder, "ca.crt", NULL);
        g_autoptr(X509) own = NULL, ca = NULL;

        if (ald_pki_certificate_load(path, &own, NULL) == -ENOENT && !ald_files_is_authority(files))
                return ALD_EXIT_OK;
        if (own && text && ald_pki_certificate_parse(text, strlen(text), &ca, NULL) >= 0 &&
                X509_cmp(own, ca) == 0)
                return ALD_EXIT_OK;
        ald_print_error("The backup is of another cluster than that of this machine: run alidadectl cluster "
                        "leave, then restore");
        return ALD_EXIT_ERROR;
}

int ald_cluster_restore(const AldClusterCommand *command)
{
        g_autofree char *encrypted = NULL, *text = NULL, *reason = NULL;
        g_auto(AldClusterFiles) files = ALD_FILES_INIT;
        char passphrase[PASSPHRASE_MAX];
        json_t *backup;
        int r;

        r = ald_files_open_to_change(&files, command->changes);
        if (r != ALD_EXIT_OK)
                return r;
        r = ald_pki_file_read(command->ctl.args[0], BACKUP_BYTES_MAX, &encrypted, NULL);
        if (r < 0)
                return ald_report_failure(r, command->ctl.args[0], NULL);
        r = read_passphrase(passphrase, false);
        if (r != ALD_EXIT_OK)
                return r;
        r = ald_pki_decrypt(encrypted, passphrase, &text, &reason);
        OPENSSL_cleanse(passphrase, sizeof passphrase);
        if (r < 0)
                return ald_report_failure(r, "Cannot open the backup", reason);
        backup = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        OPENSSL_cleanse(text, strlen(text));
        r = check_cluster(&files, backup);
        if (r == ALD_EXIT_OK)
                r = restore_backup(&files, backup);
        json_decref(backup);
        return r;
}
