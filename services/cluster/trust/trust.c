/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cluster-keys.h"
#include "pki/certificate.h"
#include "pki/crl.h"
#include "pki/file.h"
#include "pki/verify.h"
#include "record/figure-text.h"
#include "services/cluster/trust/trust.h"
#include "services/common/state-directory.h"

#define STATE_DIRECTORY "/var/lib/alidade/cluster"
#define WARNING_USEC (UINT64_C(30) * 86400 * G_USEC_PER_SEC)

struct AldTrust {
        char *id;
        char *folder;     /* folder of the files that enrolment wrote */
        char *newest_crl; /* file of the newest list received since */
        AldPkiIdentity identity;
        bool loaded;
        AldTrustEnds ends;
        char *crl;    /* the newest list, as text */
        bool unsaved; /* no file contains that list, as after a full disk */
        char *problem;
};

AldTrust *ald_trust_new(const char *id)
{
        const char *config = g_getenv("ALIDADE_CONFIG_DIR");
        AldTrust *trust = g_new0(AldTrust, 1);

        trust->id = g_strdup(id);
        trust->folder = g_build_filename(config && *config ? config : ALD_CONFIG_DIR, "cluster", NULL);
        trust->newest_crl = g_build_filename(ald_state_directory(STATE_DIRECTORY), "crl.pem", NULL);
        ald_state_remove_leftovers(trust->newest_crl);
        return trust;
}

void ald_trust_free(AldTrust *trust)
{
        if (!trust)
                return;
        ald_pki_identity_clear(&trust->identity);
        g_free(trust->id);
        g_free(trust->folder);
        g_free(trust->newest_crl);
        g_free(trust->crl);
        g_free(trust->problem);
        g_free(trust);
}

/* Loads the identity. If the last list received is damaged, ignores it: only the changes since enrolment are
 * lost, and the other nodes will send them again. */
static int load_identity(AldTrust *trust, char **ret_error)
{
        g_autofree char *error = NULL;
        int r;

        r = ald_pki_identity_load(trust->folder, trust->newest_crl, &trust->identity, &error);
        if (r >= 0)
                return r;
        if (ald_pki_identity_load(trust->folder, NULL, &trust->identity, ret_error) < 0)
                return r;
        g_warning("Ignoring the revocation list received last: %s", error);
        return 0;
}

static bool is_same_identity(const AldPkiIdentity *a, const AldPkiIdentity *b)
{
        if (!a->certificate || !b->certificate)
                return a->certificate == b->certificate;
        return X509_cmp(a->ca, b->ca) == 0 && X509_cmp(a->certificate, b->certificate) == 0 &&
               X509_CRL_match(a->crl, b->crl) == 0;
}

/* Warns if all users can read the key, as after a manual copy: anyone with the key can publish for this
 * node. */
static void warn_about_readable_key(const AldTrust *trust)
{
        g_autofree char *key = g_build_filename(trust->folder, "node.key", NULL);
        struct stat st;

        if (stat(key, &st) == 0 && (st.st_mode & 0007) != 0)
                g_warning("%s, the private key of this node, is readable by all users: run chmod 640 on it",
                        key);
}

static uint64_t read_expiry(const AldTrust *trust, const char *name)
{
        g_autofree char *path = g_build_filename(trust->folder, name, NULL);
        g_autoptr(X509) certificate = NULL;
        AldPkiFacts facts;

        if (ald_pki_certificate_load(path, &certificate, NULL) < 0)
                return UINT64_MAX;
        ald_pki_certificate_facts(certificate, &facts);
        return facts.not_after;
}

/* Returns whether this machine is configured as a broker. Its keys do not show that, since they stay when it
 * no longer is one. */
static bool is_broker(void)
{
        const char *given = g_getenv("ALIDADE_MOSQUITTO_DIR");
        g_autofree char *path = g_build_filename(
                given && *given ? given : ALD_MOSQUITTO_DIR, ALD_MOSQUITTO_DROP_IN, NULL);

        return g_file_test(path, G_FILE_TEST_EXISTS);
}

/* Reads when the certificates expire. They are read again and again, since the one of a bridge is installed
 * manually, without notifying this service. */
static void read_expiries(AldTrust *trust)
{
        bool broker = is_broker();

        trust->ends = (AldTrustEnds){
                .node = read_expiry(trust, "node.crt"),
                .broker = broker ? read_expiry(trust, "broker/broker.crt") : UINT64_MAX,
                .bridge = broker ? read_expiry(trust, "broker/bridge.crt") : UINT64_MAX,
                .authority = read_expiry(trust, "ca.crt"),
        };
}

bool ald_trust_load(AldTrust *trust)
{
        g_auto(AldPkiIdentity) before = trust->identity;
        g_autofree char *error = NULL;

        trust->identity = (AldPkiIdentity){ 0 };
        g_clear_pointer(&trust->crl, g_free);
        g_clear_pointer(&trust->problem, g_free);
        trust->unsaved = false;
        trust->loaded = load_identity(trust, &error) >= 0;
        warn_about_readable_key(trust);
        if (trust->loaded) {
                trust->crl = ald_pki_crl_to_pem(trust->identity.crl);
                ald_trust_check(trust, (uint64_t) g_get_real_time());
        } else {
                trust->problem = g_strdup_printf("Cannot join the cluster, since credentials are missing or "
                                                 "unusable (%s): run alidadectl cluster join",
                        error);
                g_warning("%s", trust->problem);
                read_expiries(trust);
        }
        return !is_same_identity(&before, &trust->identity);
}

/* Saves the newest list. The broker on this machine reads it from the file, so a failure is retried. */
static void save_crl(AldTrust *trust)
{
        int r = ald_pki_file_write(trust->newest_crl, trust->crl, 0644, (uid_t) -1, (gid_t) -1);

        if (r < 0 && !trust->unsaved)
                g_warning("Cannot save the revocation list in %s: %s", trust->newest_crl, g_strerror(-r));
        trust->unsaved = r < 0;
}

static const char *suggest_remedy(int error)
{
        switch (error) {
        case -EKEYEXPIRED:
                return ": run alidadectl cluster renew";
        case -EAGAIN:
        case -ENOKEY: /* the list is not valid at this time, although its signature is known to be good */
                return ": correct the clock of this machine";
        case -EKEYREVOKED:
                return "; an administrator has revoked it. To join again, run alidadectl cluster leave, then "
                       "alidadectl cluster join";
        default:
                return ": run alidadectl cluster join";
        }
}

const AldTrustEnds *ald_trust_ends(const AldTrust *trust)
{
        return &trust->ends;
}

void ald_trust_check(AldTrust *trust, uint64_t real)
{
        const AldPkiIdentity *identity = &trust->identity;
        g_autofree char *reason = NULL;
        char *problem = NULL;
        int r;

        read_expiries(trust);
        if (!trust->loaded)
                return;
        if (trust->unsaved)
                save_crl(trust);
        r = ald_pki_verify(identity->ca, identity->crl, identity->certificate, ALD_PKI_ROLE_NODE, trust->id,
                real, &reason);
        if (r < 0)
                problem = g_strdup_printf(
                        "The certificate of this machine is not accepted (%s)%s", reason, suggest_remedy(r));
        if (problem && g_strcmp0(problem, trust->problem) != 0)
                g_warning("%s", problem);
        g_free(trust->problem);
        trust->problem = problem;
}

/* systemd starts the unit that installs a list when the file of the list is replaced, but does not watch the
 * file while that unit runs, so a list that arrives at its very end is missed. */
void ald_trust_remind_broker(AldTrust *trust)
{
        g_autofree char *broker = g_build_filename(trust->folder, "broker", NULL);
        g_autofree char *path = g_build_filename(trust->folder, "crl.pem", NULL);
        g_autoptr(X509_CRL) installed = NULL;

        if (!trust->loaded || !g_file_test(broker, G_FILE_TEST_IS_DIR) ||
                ald_pki_crl_load(path, &installed, NULL) < 0)
                return;
        if (ald_pki_crl_number(installed) < ald_pki_crl_number(trust->identity.crl))
                save_crl(trust);
}

const char *ald_trust_problem(const AldTrust *trust)
{
        return trust->problem;
}

char *ald_trust_warning(const AldTrust *trust, uint64_t real)
{
        uint64_t end = ald_trust_expiry(trust);
        g_autofree char *day = NULL;

        if (end == UINT64_MAX || end > real + WARNING_USEC)
                return NULL;
        day = ald_format_date((double) end);
        return g_strdup_printf(
                "The certificate of this machine expires on %s and was not renewed: make sure that the "
                "machine where the cluster was created is running, or run alidadectl cluster renew",
                day);
}

uint64_t ald_trust_expiry(const AldTrust *trust)
{
        AldPkiFacts facts;

        if (!trust->loaded)
                return UINT64_MAX;
        ald_pki_certificate_facts(trust->identity.certificate, &facts);
        return facts.not_after;
}

AldTls *ald_trust_make_tls(AldTrust *trust, const char *name, char **ret_problem)
{
        AldTls *tls;

        if (!trust->loaded) {
                *ret_problem = g_strdup(trust->problem);
                return NULL;
        }
        return ald_tls_new_for_broker(&trust->identity, name, &tls, ret_problem) < 0 ? NULL : tls;
}

const char *ald_trust_crl(const AldTrust *trust)
{
        return trust->crl;
}

bool ald_trust_has_crl(const AldTrust *trust, const char *pem, size_t n)
{
        return trust->crl && strlen(trust->crl) == n && memcmp(trust->crl, pem, n) == 0;
}

int ald_trust_take_crl(AldTrust *trust, const char *pem, size_t n, char **ret_reason)
{
        AldPkiIdentity *identity = &trust->identity;
        g_autoptr(X509_CRL) crl = NULL;
        size_t n_revoked;
        int r;

        if (!trust->loaded)
                return 0;
        /* Most lists are the same one, received from different nodes. */
        if (ald_trust_has_crl(trust, pem, n)) {
                if (trust->unsaved)
                        save_crl(trust);
                return 0;
        }
        r = ald_pki_crl_parse(pem, n, &crl, ret_reason);
        if (r < 0)
                return r;
        r = ald_pki_crl_accept(crl, identity->ca, identity->crl, NULL);
        if (r == -ESTALE)
                return 0;
        if (r < 0) {
                if (ret_reason)
                        *ret_reason = g_strdup("not signed by the CA of this cluster");
                return r;
        }
        X509_CRL_free(identity->crl);
        identity->crl = g_steal_pointer(&crl);
        g_free(trust->crl);
        trust->crl = ald_pki_crl_to_pem(identity->crl);
        save_crl(trust);
        n_revoked = ald_pki_crl_count(identity->crl);
        g_message("Took revocation list %" G_GUINT64_FORMAT ", which names %zu certificate%s",
                ald_pki_crl_number(identity->crl), n_revoked, n_revoked == 1 ? "" : "s");
        return 1;
}
