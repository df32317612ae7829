/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>

#include "clients/cluster/authority/own-certificates.h"
#include "clients/cluster/broker/addresses.h"
#include "clients/cluster/broker/broker-files.h"
#include "clients/cluster/cluster-files.h"
#include "clients/cluster/command-report.h"
#include "clients/cluster/enrolment/enrol.h"
#include "clients/cluster/enrolment/request-and-bundle.h"
#include "clients/cluster/input-output.h"
#include "clients/cluster/services.h"
#include "clients/command-line/ctl.h"
#include "clients/command-line/print.h"
#include "clients/common/connection.h"
#include "common/fd.h"
#include "pki/file.h"

#define SSH_FAILED 255
#define NOT_FOUND 127

/* sudo must not ask for a password, since it has no terminal. The login shell may be any shell; this is for
 * sh. */
#define COMMAND(options)                                                             \
        "sh -c 'if [ \"$(id -u)\" = 0 ]; then exec alidadectl cluster sign " options \
        " -; else exec sudo -n alidadectl cluster sign " options " -; fi'"

static int report_usage(const char *what)
{
        ald_print_error("%s; see alidadectl cluster --help", what);
        return ALD_EXIT_USAGE;
}

/* Checks that this machine may ask another one for certificates. */
static int check_may_ask(const AldClusterFiles *files, bool renew)
{
        if (ald_files_is_authority(files)) {
                if (*files->name)
                        ald_print_error("Cluster %s was created on this machine, which signs for itself: use "
                                        "alidadectl cluster renew",
                                files->name);
                else
                        ald_print_error(
                                "alidadectl cluster init was interrupted on this machine: run it again");
                return ALD_EXIT_ERROR;
        }
        if (renew && *files->name == '\0') {
                ald_print_error("This machine is not in a cluster: use alidadectl cluster join");
                return ALD_EXIT_ERROR;
        }
        return ALD_EXIT_OK;
}

/* Returns the addresses of the broker if this machine is or will be one, else NULL. */
static int addresses_for(
        const AldClusterCommand *command, const AldClusterFiles *files, bool renew, char ***ret)
{
        int r;

        if (!command->broker && !(renew && ald_files_is_broker(files)))
                return command->addresses->len > 0
                               ? report_usage("--address is for a broker, and this machine has none")
                               : ALD_EXIT_OK;
        r = ald_broker_files_check(files);
        if (r != ALD_EXIT_OK)
                return r;
        return renew ? ald_own_addresses_again(command, files, ret) : ald_own_addresses(command, ret);
}

/* Only notes that this machine is in a cluster: the request may be meant for another one, to be joined after
 * leaving. */
static void note_membership(const AldClusterFiles *files)
{
        if (*files->name)
                ald_print_error("This machine is already in cluster %s: alidadectl cluster renew makes new "
                                "certificates; to join another cluster, run alidadectl cluster leave first",
                        files->name);
}

/* Returns whether a file already contains such a request of this machine, which can be signed for at least
 * another day. */
static bool has_same_request(
        const AldClusterFiles *files, const char *path, AldRequestPurpose purpose, char **addresses)
{
        uint64_t tomorrow = (uint64_t) g_get_real_time() + UINT64_C(86400) * G_USEC_PER_SEC;
        g_autofree char *text = NULL, *reason = NULL;
        g_auto(AldRequest) request = {};

        return ald_pki_file_read(path, ALD_REQUEST_MAX, &text, NULL) >= 0 &&
               ald_request_parse(text, tomorrow, &request, &reason) >= 0 && request.purpose == purpose &&
               strcmp(request.id, files->id) == 0 && ald_enrol_has_key(files, false, request.node) &&
               (addresses ? ald_enrol_has_key(files, true, request.broker) &&
                                       g_strv_equal((const char *const *) request.addresses,
                                               (const char *const *) addresses)
                          : !request.broker);
}

/* Makes a request. Sets *ret to NULL if `file` already contains such a request. */
static int make_request(
        const AldClusterCommand *command, bool renew, const char *file, char **ret, bool *ret_broker)
{
        AldRequestPurpose purpose = renew ? ALD_REQUEST_RENEW : ALD_REQUEST_JOIN;
        g_auto(AldClusterFiles) files = ALD_FILES_INIT;
        g_autofree char *text = NULL;
        g_auto(GStrv) addresses = NULL;
        int r;

        r = ald_files_open_to_change(&files, command->changes);
        if (r == ALD_EXIT_OK)
                r = check_may_ask(&files, renew);
        if (r == ALD_EXIT_OK)
                r = addresses_for(command, &files, renew, &addresses);
        if (r == ALD_EXIT_OK && !renew && command->request)
                note_membership(&files);
        /* Addresses that were given may deserve a note; those of the machine itself do not. */
        for (guint i = 0; r == ALD_EXIT_OK && addresses && i < command->addresses->len; i++)
                ald_broker_address_note(command->addresses->pdata[i]);
        if (r == ALD_EXIT_OK && file && has_same_request(&files, file, purpose, addresses))
                ald_changes_note(files.changes, "Kept %s: it already contains such a request", file);
        else if (r == ALD_EXIT_OK)
                r = ald_enrol_request(&files, purpose, addresses, &text);
        if (r != ALD_EXIT_OK)
                return r;
        *ret = g_steal_pointer(&text);
        *ret_broker = addresses;
        return ALD_EXIT_OK;
}

static int write_request(const AldClusterCommand *command, bool renew)
{
        const char *file = ald_input_file(command), *name = file ? file : "REQUEST";
        g_autofree char *request = NULL;
        bool broker;
        int r;

        if (!file && !command->changes->check) {
                if (command->changes->json)
                        return report_usage("--json needs a file for the request, or --check");
                command->changes->tell = stderr;
        }
        r = make_request(command, renew, file, &request, &broker);
        if (r != ALD_EXIT_OK || command->changes->check)
                return r == ALD_EXIT_OK && file && request
                               ? ald_output_write_file(command->changes, file, request, 0644)
                               : r;
        if (!file)
                r = ald_output_print(command->changes, request);
        else if (request)
                r = ald_output_write_file(command->changes, file, request, 0644);
        if (r == ALD_EXIT_OK && !command->changes->json)
                fprintf(file ? stdout : stderr,
                        "Next: where the cluster was created: alidadectl cluster sign %s%s%s "
                        "--output=BUNDLE, "
                        "then here: "
                        "alidadectl cluster %s --accept BUNDLE\n",
                        renew ? "--renew " : "", broker ? "--broker " : "", name, renew ? "renew" : "join");
        return r;
}

static int accept_bundle(const AldClusterCommand *command, bool renew, const char *text, size_t n)
{
        g_auto(AldClusterFiles) files = ALD_FILES_INIT;
        g_auto(AldBundle) bundle = {};
        g_autofree char *reason = NULL;
        int r;

        r = ald_files_open_to_change(&files, command->changes);
        if (r == ALD_EXIT_OK)
                r = check_may_ask(&files, renew);
        if (r != ALD_EXIT_OK)
                return r;
        r = ald_bundle_parse(text, n, &bundle, &reason);
        if (r < 0)
                return ald_report_failure(r, "The bundle is refused", reason);
        r = bundle.broker ? ald_broker_files_check(&files) : ALD_EXIT_OK;
        if (r == ALD_EXIT_OK)
                r = ald_enrol_accept(&files, &bundle, renew);
        if (r == ALD_EXIT_OK)
                r = ald_services_apply(
                        &files, ALD_SERVICES_CLUSTERD | (bundle.broker ? ALD_SERVICES_START_BROKER : 0));
        if (r == ALD_EXIT_OK)
                ald_changes_note_next(files.changes, "Next: alidadectl cluster status");
        return r;
}

static int accept_file(const AldClusterCommand *command, bool renew)
{
        g_autofree char *text = NULL;
        size_t n;
        int r;

        if (geteuid() != 0) /* report the error before waiting for input */
                return accept_bundle(command, renew, "", 0);
        r = ald_input_read(command, ALD_BUNDLE_MAX, &text, &n);
        return r == ALD_EXIT_OK ? accept_bundle(command, renew, text, n) : r;
}

/* Reports, with --check, what would be done. The other machine is not asked, so the answer is unknown. */
static int report_planned_request(const AldClusterCommand *command, bool renew)
{
        const char *host = command->ctl.args[0];
        g_auto(AldClusterFiles) files = ALD_FILES_INIT;
        int r;

        r = ald_files_open(&files, command->changes);
        if (r != ALD_EXIT_OK)
                return r;
        if (!renew && *files.name && ald_enrol_expiry(&files) > (uint64_t) g_get_real_time()) {
                ald_changes_note(files.changes,
                        "This machine is already in cluster %s; %s would be asked for updates", files.name,
                        host);
                return ALD_EXIT_OK;
        }
        ald_changes_add(command->changes, ALD_CHANGE_ASK, host, " to sign a request of this machine, by ssh");
        ald_changes_add(command->changes, ALD_CHANGE_INSTALL, files.folder,
                ": the certificates that come back, and the configuration of the cluster service");
        return ALD_EXIT_OK;
}

/* Writes the text to a file without a name: if ssh ends early, there is no pipe that could break. */
static int make_input_file(const char *text)
{
        ald_fd int fd = memfd_create("request", MFD_CLOEXEC);
        size_t n = strlen(text);

        if (fd < 0)
                return -errno;
        if (write(fd, text, n) != (ssize_t) n || lseek(fd, 0, SEEK_SET) < 0)
                return -EIO;
        return ald_fd_steal(&fd);
}

static const char *sign_command(bool renew, bool replace, bool broker)
{
        if (replace)
                return broker ? COMMAND("--replace --broker") : COMMAND("--replace");
        if (renew)
                return broker ? COMMAND("--renew --broker") : COMMAND("--renew");
        return broker ? COMMAND("--broker") : COMMAND("");
}

static int start_ssh(
        const char *host, const char *request, const char *remote, GPid *ret_pid, int *ret_output)
{
        /* By default ssh asks on the controlling terminal, even if standard input is not a terminal. */
        const char *asks = isatty(STDIN_FILENO) ? "BatchMode=no" : "BatchMode=yes";
        const char *argv[] = { "ssh", "-T", "-o", asks, "--", host, remote, NULL };
        GSpawnFlags flags = G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD;
        ald_fd int input = make_input_file(request);
        g_autoptr(GError) error = NULL;

        if (input < 0) {
                ald_print_error("Cannot save the request: %s", strerror(-input));
                return input;
        }
        if (!g_spawn_async_with_pipes_and_fds(NULL, argv, NULL, flags, NULL, NULL, input, -1, -1, NULL, NULL,
                    0, ret_pid, NULL, ret_output, NULL, &error)) {
                ald_print_error("Cannot run ssh: %s", error->message);
                return -EIO;
        }
        return 0;
}

static int explain_failure(const char *host, bool renew, int status)
{
        int code = WIFEXITED(status) ? WEXITSTATUS(status) : SSH_FAILED;
        const char *verb = renew ? "renew" : "join";

        if (code == SSH_FAILED)
                ald_print_error(
                        "Cannot reach %s by ssh; without ssh, use alidadectl cluster %s --request, then "
                        "%s --accept",
                        host, verb, verb);
        else if (code == NOT_FOUND)
                ald_print_error(
                        "alidadectl, or sudo for users other than root, is not installed on %s", host);
        else
                ald_print_error(
                        "%s did not sign. If sudo asks for a password there, %s with root@HOST, or use "
                        "alidadectl cluster %s --request, then %s --accept",
                        host, verb, verb, verb);
        return code == SSH_FAILED || code == NOT_FOUND ? ALD_EXIT_UNREACHABLE
               : code == ALD_EXIT_DENIED               ? ALD_EXIT_DENIED
                                                       : ALD_EXIT_ERROR;
}

/*
 * Runs `alidadectl cluster sign` on another machine over ssh(1), which may prompt. The flags describe the
 * request: whether it renews, and whether it includes a broker.
 */
static int sign_remotely(const char *host, const char *request, bool renew, bool replace, bool broker,
        char **ret_bundle, size_t *ret_n)
{
        g_autofree char *bundle = NULL;
        ald_fd int output = -1;
        int status = -1, r;
        size_t n = 0;
        GPid pid;

        if (start_ssh(host, request, sign_command(renew, replace, broker), &pid, &output) < 0)
                return ALD_EXIT_ERROR;
        r = ald_input_read_all(output, ALD_BUNDLE_MAX, &bundle, &n);
        ald_fd_close(&output);
        (void) TEMP_FAILURE_RETRY(waitpid(pid, &status, 0));
        if (r == -EFBIG) {
                ald_print_error("%s sent more than a bundle can contain", host);
                return ALD_EXIT_ERROR;
        }
        if (status != 0)
                return explain_failure(host, renew, status);
        if (r < 0)
                return ald_report_failure(r, "Cannot read the output of ssh", NULL);
        *ret_bundle = g_steal_pointer(&bundle);
        *ret_n = n;
        return ALD_EXIT_OK;
}

/* Holds no lock meanwhile, since the other machine may be this one. */
static int ask_remote(const AldClusterCommand *command, bool renew)
{
        g_autofree char *request = NULL, *bundle = NULL;
        bool broker;
        size_t n = 0;
        int r;

        r = make_request(command, renew, NULL, &request, &broker);
        (void) fflush(stdout);
        if (r == ALD_EXIT_OK && command->changes->check)
                return report_planned_request(command, renew);
        if (r == ALD_EXIT_OK)
                r = sign_remotely(
                        command->ctl.args[0], request, renew, command->replace, broker, &bundle, &n);
        return r == ALD_EXIT_OK ? accept_bundle(command, renew, bundle, n) : r;
}

static int join_or_renew(const AldClusterCommand *command, bool renew)
{
        if (command->request && command->accept)
                return report_usage("--request and --accept cannot be combined");
        if (command->accept && (command->broker || command->addresses->len > 0))
                return report_usage(
                        "--accept cannot be combined with --broker or --address, which are for the request");
        if (command->replace && (command->request || command->accept))
                return report_usage(
                        "--replace cannot be combined with --request or --accept; use it with sign");
        if (command->addresses->len > 0 && !command->broker && !renew)
                return report_usage("--address needs --broker");
        if (command->request)
                return write_request(command, renew);
        if (command->accept)
                return accept_file(command, renew);
        if (command->n_args > 0 && !ald_connection_is_host(command->ctl.args[0])) {
                ald_print_error("\"%s\" is not a valid USER@HOST", command->ctl.args[0]);
                return ALD_EXIT_USAGE;
        }
        if (command->n_args == 0)
                return report_usage(
                        "Specify USER@HOST, the machine where the cluster was created; without ssh, use "
                        "--request and --accept");
        return ask_remote(command, renew);
}

int ald_cluster_join(const AldClusterCommand *command)
{
        return join_or_renew(command, false);
}

/* Renews the certificates of the machine where the cluster was created. */
static int renew_here(const AldClusterCommand *command, AldClusterFiles *files)
{
        g_auto(AldAuthority) authority = {};
        g_auto(GStrv) addresses = NULL, brokers = NULL, known = NULL;
        int r;

        if (command->request || command->accept || command->replace || command->n_args > 0)
                return report_usage("This machine signs for itself: use alidadectl cluster renew");
        r = addresses_for(command, files, true, &addresses);
        if (r == ALD_EXIT_OK)
                r = ald_authority_open(files, &authority);
        if (r == ALD_EXIT_OK)
                r = ald_own_node_certify(&authority, true);
        if (r == ALD_EXIT_OK && addresses)
                r = ald_own_broker_certify(&authority, files->name, addresses, true);
        if (r != ALD_EXIT_OK)
                return r;
        if (addresses && (command->broker || command->addresses->len > 0)) {
                known = ald_authority_broker_hosts(&authority, files->id);
                brokers = ald_broker_list_put(files->brokers, known, addresses[0]);
                r = ald_files_configure(files, files->name, (const char *const *) brokers);
        }
        return r == ALD_EXIT_OK ? ald_services_apply(files,
                                          ALD_SERVICES_CLUSTERD | (addresses ? ALD_SERVICES_START_BROKER : 0))
                                : r;
}

int ald_cluster_renew(const AldClusterCommand *command)
{
        g_auto(AldClusterFiles) files = ALD_FILES_INIT;
        int r;

        if (command->automatic) {
                if (command->n_args > 0 || command->broker || command->request || command->accept ||
                        command->replace || command->addresses->len > 0)
                        return report_usage("--auto cannot be combined with anything else");
                return ald_cluster_renew_due(command);
        }
        r = ald_files_open_to_change(&files, command->changes);
        if (r != ALD_EXIT_OK)
                return r;
        if (*files.name && ald_files_is_authority(&files))
                return renew_here(command, &files);
        r = check_may_ask(&files, true);
        ald_files_close(&files); /* releases the lock */
        return r == ALD_EXIT_OK ? join_or_renew(command, true) : r;
}
