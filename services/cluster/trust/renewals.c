/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pki/certificate.h"
#include "pki/file.h"
#include "pki/identity.h"
#include "pki/verify.h"
#include "services/cluster/trust/renewals.h"
#include "services/common/state-directory.h"

#define STATE_DIRECTORY "/var/lib/alidade/cluster"
#define REQUEST "renewal"
#define ANSWERS "renewed"
#define SUFFIX ".pem"

struct AldRenewals {
        AldBrokers *brokers;
        char id[ALD_ID_STRING_SIZE];
        char *prefix;              /* alidade/1/CLUSTER/ */
        char *folder;              /* the folder of the cluster, which root writes */
        char *inbox;               /* folder for requests of others, at the certificate authority */
        char *received;            /* file of a request that is being written */
        char *answer;              /* file for the certificates of this node */
        GHashTable *next_requests; /* node → when it may ask again */
        GHashTable *answered;      /* ids of nodes whose answers were published */
};

AldRenewals *ald_renewals_new(const AldId *own, const char *cluster, AldBrokers *brokers)
{
        const char *config = g_getenv("ALIDADE_CONFIG_DIR"), *state = ald_state_directory(STATE_DIRECTORY);
        AldRenewals *renewals = g_new0(AldRenewals, 1);

        renewals->brokers = brokers;
        ald_id_format(own, renewals->id);
        renewals->prefix = g_strdup_printf("alidade/1/%s/", cluster);
        renewals->folder = g_build_filename(config && *config ? config : ALD_CONFIG_DIR, "cluster", NULL);
        renewals->inbox = g_build_filename(state, "renewals", NULL);
        renewals->received = g_build_filename(state, "renewal.received", NULL);
        renewals->answer = g_build_filename(state, "renewed.pem", NULL);
        renewals->next_requests = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        renewals->answered = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        ald_state_remove_leftovers(renewals->answer);
        ald_state_remove_leftovers(renewals->received);
        return renewals;
}

void ald_renewals_free(AldRenewals *renewals)
{
        if (!renewals)
                return;
        g_hash_table_unref(renewals->next_requests);
        g_hash_table_unref(renewals->answered);
        g_free(renewals->prefix);
        g_free(renewals->folder);
        g_free(renewals->inbox);
        g_free(renewals->received);
        g_free(renewals->answer);
        g_free(renewals);
}

/* Returns whether the certificate authority is here. Its folder is visible to all users, although its
 * contents belong to root. */
static bool is_authority(const AldRenewals *renewals)
{
        g_autofree char *authority = g_build_filename(renewals->folder, "ca", NULL);

        return g_file_test(authority, G_FILE_TEST_IS_DIR);
}

char **ald_renewals_filters(const AldRenewals *renewals)
{
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
        g_autofree char *answers = g_strdup_printf("%s+/" ANSWERS "/%s", renewals->prefix, renewals->id);
        g_autofree char *requests = g_strdup_printf("%s+/" REQUEST, renewals->prefix);

        g_strv_builder_add(builder, answers);
        if (is_authority(renewals))
                g_strv_builder_add(builder, requests);
        return g_strv_builder_end(builder);
}

/* Publishes a file, or clears the topic if the file is gone. All brokers get it, since the other node may
 * reach only another broker than the first. */
static void publish_file(AldRenewals *renewals, const char *path, const char *rest)
{
        g_autofree char *topic = g_strdup_printf("%s%s/%s", renewals->prefix, renewals->id, rest);
        g_autofree char *text = NULL;
        size_t n = 0;

        if (ald_pki_file_read(path, ALD_RENEWAL_MAX, &text, &n) < 0)
                n = 0;
        for (size_t i = 0; i < ald_brokers_count(renewals->brokers); i++)
                (void) ald_broker_publish(ald_brokers_get(renewals->brokers, i), topic, text, n, 1, true);
}

/* Publishes the certificates for a node, and returns whether there are any. */
static bool publish_answer(AldRenewals *renewals, const char *id)
{
        g_autofree char *path = g_strdup_printf("%s/" ANSWERS "/%s" SUFFIX, renewals->folder, id);
        g_autofree char *rest = g_strdup_printf(ANSWERS "/%s", id);

        publish_file(renewals, path, rest);
        return access(path, F_OK) == 0;
}

static gboolean publish_again(gpointer id, gpointer unused, gpointer renewals)
{
        return !publish_answer(renewals, id);
}

void ald_renewals_publish(AldRenewals *renewals)
{
        g_autofree char *request = g_build_filename(renewals->folder, REQUEST, NULL);
        g_autofree char *answers = g_build_filename(renewals->folder, ANSWERS, NULL);
        g_autoptr(GDir) dir = g_dir_open(answers, 0, NULL);
        const char *name;

        publish_file(renewals, request, REQUEST);
        while (dir && (name = g_dir_read_name(dir))) {
                g_autofree char *id = g_strndup(name, ALD_ID_STRING_SIZE - 1);

                if (ald_pki_is_node_id(id) && strcmp(name + strlen(id), SUFFIX) == 0)
                        g_hash_table_add(renewals->answered, g_steal_pointer(&id));
        }
        /* Clears, once, the topic of an answer that is gone. */
        g_hash_table_foreach_remove(renewals->answered, publish_again, renewals);
}

static bool admit_request(AldRenewals *renewals, const char *node, gint64 now)
{
        gint64 *next = g_hash_table_lookup(renewals->next_requests, node);

        if (next ? now < *next : g_hash_table_size(renewals->next_requests) >= ALD_RENEWALS_MAX)
                return false;
        if (!next) {
                next = g_new(gint64, 1);
                g_hash_table_insert(renewals->next_requests, g_strdup(node), next);
        }
        *next = now + ALD_RENEWAL_INTERVAL_USEC;
        return true;
}

static int save_payload(const char *path, const AldReceived *received)
{
        g_autofree char *text = g_strndup(received->payload, received->size);

        return ald_pki_file_write(path, text, 0644, (uid_t) -1, (gid_t) -1);
}

/* Creates the inbox, writable for its group: the part that runs as root has no capability to override
 * permissions, but removes what it has read. */
static int make_inbox(const AldRenewals *renewals)
{
        if (mkdir(renewals->inbox, 0755) < 0 && errno != EEXIST)
                return -errno;
        return chmod(renewals->inbox, 0775) < 0 ? -errno : 0;
}

/* Saves a request under another name first: the part that runs as root starts as soon as the inbox contains a
 * file, which must be complete. */
static void take_request(AldRenewals *renewals, const char *node, const AldReceived *received, gint64 now)
{
        g_autofree char *name = g_strconcat(node, SUFFIX, NULL);
        g_autofree char *path = g_build_filename(renewals->inbox, name, NULL);
        int r;

        if (!is_authority(renewals) || !admit_request(renewals, node, now))
                return;
        r = make_inbox(renewals);
        if (r == 0)
                r = save_payload(renewals->received, received);
        if (r == 0 && rename(renewals->received, path) < 0)
                r = -errno;
        if (r < 0)
                g_warning("Cannot save %s: %s", path, g_strerror(-r));
}

/* Returns whether the first certificate in it is for this node and expires later than the present one. The
 * part that runs as root verifies everything again. */
static bool is_newer(const AldRenewals *renewals, const AldReceived *received)
{
        g_auto(AldPkiIdentity) identity = {};
        g_autoptr(X509) certificate = NULL;
        AldPkiFacts made, own;

        if (ald_pki_identity_load(renewals->folder, NULL, &identity, NULL) < 0 ||
                ald_pki_certificate_parse(received->payload, received->size, &certificate, NULL) < 0 ||
                ald_pki_verify(identity.ca, identity.crl, certificate, ALD_PKI_ROLE_NODE, renewals->id,
                        (uint64_t) g_get_real_time(), NULL) < 0)
                return false;
        ald_pki_certificate_facts(certificate, &made);
        ald_pki_certificate_facts(identity.certificate, &own);
        return made.not_after > own.not_after;
}

bool ald_renewals_take(AldRenewals *renewals, const AldReceived *received, gint64 now)
{
        g_autofree char *node = NULL;
        const char *rest;

        if (!g_str_has_prefix(received->topic, renewals->prefix))
                return false;
        rest = received->topic + strlen(renewals->prefix);
        node = g_strndup(rest, ALD_ID_STRING_SIZE - 1);
        if (!ald_pki_is_node_id(node) || rest[strlen(node)] != '/')
                return false;
        rest += strlen(node) + 1;
        if (strcmp(rest, REQUEST) != 0 && !g_str_has_prefix(rest, ANSWERS "/"))
                return false;
        if (received->size == 0 || received->size > ALD_RENEWAL_MAX)
                return true;
        if (strcmp(rest, REQUEST) == 0) {
                if (strcmp(node, renewals->id) != 0)
                        take_request(renewals, node, received, now);
        } else if (strcmp(rest + strlen(ANSWERS "/"), renewals->id) == 0 && is_newer(renewals, received)) {
                int r = save_payload(renewals->answer, received);

                if (r < 0)
                        g_warning("Cannot save %s: %s", renewals->answer, g_strerror(-r));
        }
        return true;
}
