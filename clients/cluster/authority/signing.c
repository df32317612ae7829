/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/cluster/authority/signing.h"
#include "clients/cluster/broker/addresses.h"
#include "clients/cluster/command-report.h"
#include "clients/command-line/print.h"

/* Checks which nodes may join or renew their certificates. */

/* Describes the node that sent the request, as "node3 (ID)". The name of an earlier certificate is more
 * certain than the one in the request. */
static char *format_label(const AldSigning *signing)
{
        const AldRequest *request = signing->request;

        return request->name && !ald_authority_name(signing->authority, request->id)
                       ? g_strdup_printf("%s (%s)", request->name, request->id)
                       : ald_authority_label(signing->authority, request->id);
}

static bool is_allowed(const AldClusterCommand *command, const char *host)
{
        for (guint i = 0; i < command->addresses->len; i++)
                if (ald_host_equal(command->addresses->pdata[i], host))
                        return true;
        return command->addresses->len == 0;
}

char **ald_signing_disallowed_hosts(const AldClusterCommand *command, char **hosts)
{
        g_autoptr(GPtrArray) disallowed = g_ptr_array_new_with_free_func(g_free);

        for (; *hosts; hosts++)
                if (!is_allowed(command, *hosts))
                        g_ptr_array_add(disallowed, g_strdup(*hosts));
        g_ptr_array_add(disallowed, NULL);
        return (char **) g_ptr_array_steal(disallowed, NULL);
}

int ald_signing_check_allowed(const AldClusterCommand *command, const AldSigning *signing)
{
        g_auto(GStrv) disallowed = NULL;
        g_autofree char *names = NULL, *label = NULL;

        if (!signing->request->broker)
                return ALD_EXIT_OK;
        disallowed = ald_signing_disallowed_hosts(command, signing->request->addresses);
        if (!*disallowed)
                return ALD_EXIT_OK;
        label = format_label(signing);
        names = g_strjoinv(", ", disallowed);
        ald_print_error(
                "The request is refused: node %s asks to be a broker at %s, which --address does not allow",
                label, names);
        return ALD_EXIT_ERROR;
}

/* Requires --broker: all nodes will trust the host at the addresses of a broker, so the signer must confirm
 * it. */
static int check_broker(const AldClusterCommand *command, const AldSigning *signing)
{
        g_autofree char *names = NULL, *label = NULL;

        if (!signing->request->broker || command->broker)
                return ALD_EXIT_OK;
        label = format_label(signing);
        names = g_strjoinv(", ", signing->request->addresses);
        ald_print_error(
                "The request is refused: node %s also asks to be a broker, which all nodes would trust "
                "at %s. To allow this, add --broker, and --address for each that is right; otherwise make a "
                "request without --broker there",
                label, names);
        return ALD_EXIT_ERROR;
}

static void mark_replaced(AldSigning *signing, const AldIssued *one)
{
        const char *serial = one->facts.serial;

        if (!g_ptr_array_find_with_equal_func(signing->replaced, serial, (GEqualFunc) g_str_equal, NULL))
                g_ptr_array_add(signing->replaced, g_strdup(serial));
}

static int refuse_existing(const AldSigning *signing, const AldIssued *issued, bool same_key)
{
        g_autofree char *until = ald_report_day(issued->facts.not_after), *label = format_label(signing);

        if (same_key)
                ald_print_error(
                        "Node %s already has a certificate for the same key, valid until %s. To sign a "
                        "new one, add --renew",
                        label, until);
        else
                ald_print_error(
                        "Node %s already has a certificate for another key, valid until %s. If it was "
                        "reinstalled, or lost its key, add --replace, which revokes that certificate. "
                        "If it is a copy of another machine, remove /etc/machine-id there, run "
                        "systemd-machine-id-setup, reboot and join again",
                        label, until);
        return ALD_EXIT_ERROR;
}

/* Refuses a key that was revoked, since others may have it. */
static int check_revoked(const AldSigning *signing)
{
        const AldAuthority *authority = signing->authority;

        for (guint i = 0; i < authority->issued->len; i++) {
                const AldIssued *one = authority->issued->pdata[i];

                if ((!ald_issued_has_key(one, signing->request->node) &&
                            !ald_issued_has_key(one, signing->request->broker)) ||
                        !ald_pki_crl_contains(authority->crl, one->facts.serial))
                        continue;
                ald_print_error("The key of this request was revoked. To admit the machine again, run "
                                "alidadectl cluster leave there, then join, which creates a new key");
                return ALD_EXIT_ERROR;
        }
        return ALD_EXIT_OK;
}

/* Refuses a renewal unless a certificate was signed here for the same node and key before. */
static int check_purpose(const AldClusterCommand *command, const AldSigning *signing)
{
        const GPtrArray *issued = signing->authority->issued;
        g_autofree char *label = NULL;

        if (signing->request->purpose != ALD_REQUEST_RENEW || command->replace)
                return ALD_EXIT_OK;
        for (guint i = 0; i < issued->len; i++) {
                const AldIssued *one = issued->pdata[i];

                if (!one->is_broker && strcmp(one->node, signing->request->id) == 0 &&
                        ald_issued_has_key(one, signing->request->node))
                        return ALD_EXIT_OK;
        }
        label = format_label(signing);
        ald_print_error(
                "The request is refused: node %s asks to renew a certificate, but none was ever signed "
                "here for its key. Run alidadectl cluster leave there, then join",
                label);
        return ALD_EXIT_ERROR;
}

/* Returns whether a valid certificate belongs to the broker of the node or to a bridge of that, but is for a
 * key that is not in the request. */
static bool is_of_other_broker(const AldSigning *signing, const AldIssued *one)
{
        const AldRequest *request = signing->request;
        bool other = !ald_issued_has_key(one, request->node) && !ald_issued_has_key(one, request->broker);

        return other && (one->is_broker || one->node[0] == '\0') &&
               ald_authority_is_of(signing->authority, one, request->id) &&
               ald_authority_is_valid(signing->authority, one);
}

/* Requires --replace for a different key of a broker: all nodes will trust that key, so the signer must
 * confirm it. */
static int check_broker_key(const AldClusterCommand *command, AldSigning *signing)
{
        const GPtrArray *issued = signing->authority->issued;

        for (guint i = 0; signing->request->broker && i < issued->len; i++) {
                const AldIssued *one = issued->pdata[i];
                g_autofree char *until = NULL, *label = NULL;

                if (!is_of_other_broker(signing, one))
                        continue;
                if (command->replace) {
                        mark_replaced(signing, one);
                        continue;
                }
                until = ald_report_day(one->facts.not_after);
                label = format_label(signing);
                ald_print_error("The request is refused: the broker of node %s already has a certificate for "
                                "another key, valid until %s. If it was reinstalled, or lost that key, add "
                                "--replace, which revokes that certificate",
                        label, until);
                return ALD_EXIT_ERROR;
        }
        return ALD_EXIT_OK;
}

/* Checks that the id is not used by another machine: the machine that holds the certified key is the one that
 * the id belongs to. If it requests to join again, it gets the certificate that it has. */
static int check_existing(const AldClusterCommand *command, AldSigning *signing)
{
        const GPtrArray *issued = signing->authority->issued;
        bool replaces = false;

        for (guint i = 0; i < issued->len; i++) {
                const AldIssued *one = issued->pdata[i];
                bool same = ald_issued_has_key(one, signing->request->node);

                if (one->is_broker || strcmp(one->node, signing->request->id) != 0 ||
                        !ald_authority_is_valid(signing->authority, one))
                        continue;
                if (!command->replace &&
                        !(same && (command->renew || signing->request->purpose != ALD_REQUEST_RENEW)))
                        return refuse_existing(signing, one, same);
                replaces = replaces || !same;
        }
        for (guint i = 0; replaces && i < issued->len; i++) {
                AldIssued *one = issued->pdata[i];

                if (ald_authority_is_of(signing->authority, one, signing->request->id) &&
                        !ald_issued_has_key(one, signing->request->node) &&
                        !ald_issued_has_key(one, signing->request->broker) &&
                        ald_authority_is_valid(signing->authority, one))
                        mark_replaced(signing, one);
        }
        return ALD_EXIT_OK;
}

/* Returns an address of the request that another broker has, or NULL. */
static const char *shared_address(const AldSigning *signing, const AldIssued *broker)
{
        for (char **address = signing->request->addresses; *address; address++)
                if (ald_pki_certificate_is_for_host(broker->certificate, *address))
                        return *address;
        return NULL;
}

static int refuse_address(const char *address, const char *node, bool is_here)
{
        ald_print_error("The request is refused: the broker of node %s%s already has the address %s. %sIf "
                        "several machines have that address, such as that of a bridge inside each, make a "
                        "request with --address= there",
                node, is_here ? ", which is this machine," : "", address,
                is_here ? ""
                        : "If that is no longer a broker, add --replace, which revokes its certificate. ");
        return ALD_EXIT_ERROR;
}

/* Refuses addresses of other brokers. If two brokers had certificates for one address, each could impersonate
 * the other. */
static int check_addresses(const AldClusterCommand *command, AldSigning *signing)
{
        const GPtrArray *issued = signing->authority->issued;

        for (guint i = 0; signing->request->broker && i < issued->len; i++) {
                const AldIssued *one = issued->pdata[i];
                bool is_here = strcmp(one->node, signing->files->id) == 0;
                const char *shared;

                if (!one->is_broker || strcmp(one->node, signing->request->id) == 0 ||
                        !ald_authority_is_valid(signing->authority, one))
                        continue;
                shared = shared_address(signing, one);
                if (shared && (!command->replace || is_here)) {
                        g_autofree char *label = ald_authority_label(signing->authority, one->node);

                        return refuse_address(shared, label, is_here);
                }
                if (shared)
                        mark_replaced(signing, one);
        }
        return ALD_EXIT_OK;
}

int ald_signing_check(const AldClusterCommand *command, AldSigning *signing)
{
        int r;

        r = check_broker(command, signing);
        if (r == ALD_EXIT_OK)
                r = check_revoked(signing);
        if (r == ALD_EXIT_OK)
                r = check_purpose(command, signing);
        if (r == ALD_EXIT_OK)
                r = check_existing(command, signing);
        if (r == ALD_EXIT_OK)
                r = check_broker_key(command, signing);
        return r == ALD_EXIT_OK ? check_addresses(command, signing) : r;
}
