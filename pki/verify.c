/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "pki/certificate.h"
#include "pki/crl.h"
#include "pki/openssl.h"
#include "pki/verify.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(X509_STORE, X509_STORE_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(X509_STORE_CTX, X509_STORE_CTX_free)

/* The objects and time of one verification. */
typedef struct Verification {
        X509 *ca;
        X509_CRL *crl;
        X509 *certificate;
        uint64_t now;
        AldPkiFacts facts;
        char *what; /* name of the certificate in reasons */
} Verification;

static int refuse_time(
        int code, const char *what, const char *verb, uint64_t limit, uint64_t now, char **ret_reason)
{
        g_autofree char *then = ald_pki_date_format(limit), *here = ald_pki_date_format(now);

        return ald_pki_refuse(
                code, ret_reason, "%s %s %s; here it is %s: check the clocks", what, verb, then, here);
}

static int refuse_expired(int code, const char *what, uint64_t limit, char **ret_reason)
{
        g_autofree char *then = ald_pki_date_format(limit);

        return ald_pki_refuse(code, ret_reason, "%s has expired: it was valid until %s", what, then);
}

static int check_crl(const Verification *self, char **ret_reason)
{
        const char *what = "the revocation list";
        const ASN1_TIME *end;
        uint64_t limit;

        if (!self->crl)
                return ald_pki_refuse(-ENOKEY, ret_reason, "there is no revocation list of the cluster");
        if (ald_pki_crl_verify(self->crl, self->ca, ret_reason) < 0)
                return -ENOKEY;
        limit = ald_pki_date_read(X509_CRL_get0_lastUpdate(self->crl));
        if (self->now < limit)
                return refuse_time(-ENOKEY, what, "is not valid before", limit, self->now, ret_reason);
        end = X509_CRL_get0_nextUpdate(self->crl);
        limit = end ? ald_pki_date_read(end) : UINT64_MAX;
        if (self->now > limit)
                return refuse_expired(-ENOKEY, what, limit, ret_reason);
        return 0;
}

/* Describes an error of OpenSSL, which is about the CA if `of_ca` is set. */
static int refuse_chain(const Verification *self, int error, bool of_ca, char **ret_reason)
{
        AldPkiFacts ca;
        g_autofree char *ca_name = NULL;
        const char *what = self->what;

        ald_pki_certificate_facts(self->ca, &ca);
        ca_name = g_strdup_printf("the CA of cluster \"%s\"", ca.common_name);
        if (of_ca)
                what = ca_name;
        switch (error) {
        case X509_V_ERR_CERT_REVOKED:
                return ald_pki_refuse(-EKEYREVOKED, ret_reason, "%s is revoked", what);
        case X509_V_ERR_CERT_HAS_EXPIRED:
                return refuse_expired(
                        -EKEYEXPIRED, what, of_ca ? ca.not_after : self->facts.not_after, ret_reason);
        case X509_V_ERR_CERT_NOT_YET_VALID:
                return refuse_time(-EAGAIN, what, "is not valid before",
                        of_ca ? ca.not_before : self->facts.not_before, self->now, ret_reason);
        case X509_V_ERR_CERT_SIGNATURE_FAILURE:
                return ald_pki_refuse(-EKEYREJECTED, ret_reason,
                        "%s has an invalid signature: it was altered, or is from another CA with the name of "
                        "%s",
                        what, ca_name);
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
                return ald_pki_refuse(-EKEYREJECTED, ret_reason, "%s is not signed by %s", what, ca_name);
        default:
                return ald_pki_refuse(-EKEYREJECTED, ret_reason, "%s cannot be used: %s", what,
                        X509_verify_cert_error_string(error));
        }
}

static int check_chain(const Verification *self, char **ret_reason)
{
        g_autoptr(X509_STORE) store = X509_STORE_new();
        g_autoptr(X509_STORE_CTX) context = X509_STORE_CTX_new();
        X509 *bad;

        if (!store || !context || !X509_STORE_add_cert(store, self->ca) ||
                !X509_STORE_add_crl(store, self->crl) ||
                !X509_STORE_CTX_init(context, store, self->certificate, NULL))
                return ald_pki_openssl_failed(-ENOMEM, self->what, ret_reason);
        X509_STORE_CTX_set_flags(context, X509_V_FLAG_CRL_CHECK);
        X509_STORE_CTX_set_time(context, 0, (time_t) (self->now / G_USEC_PER_SEC));
        X509_VERIFY_PARAM_set_auth_level(X509_STORE_CTX_get0_param(context), 2);
        if (X509_verify_cert(context) == 1)
                return 0;
        bad = X509_STORE_CTX_get_current_cert(context);
        return refuse_chain(self, X509_STORE_CTX_get_error(context),
                bad && X509_cmp(bad, self->certificate) != 0, ret_reason);
}

static int check_role(const Verification *self, AldPkiRole role, char **ret_reason)
{
        const AldPkiFacts *facts = &self->facts;

        switch (role) {
        case ALD_PKI_ROLE_NODE:
                if (facts->client && facts->is_node)
                        return 0;
                return ald_pki_refuse(-EPERM, ret_reason, "%s is not for a node: %s", self->what,
                        facts->client ? "its name is not a node id"
                                      : "it does not allow use by a client (clientAuth)");
        case ALD_PKI_ROLE_BROKER:
                if (facts->server)
                        return 0;
                return ald_pki_refuse(-EPERM, ret_reason,
                        "%s is not for a broker%s: it does not allow use by a server (serverAuth)",
                        self->what, facts->is_node && facts->client ? " but for a node" : "");
        case ALD_PKI_ROLE_BRIDGE:
                if (facts->client && g_str_has_prefix(facts->common_name, ALD_PKI_BRIDGE_PREFIX))
                        return 0;
                return ald_pki_refuse(-EPERM, ret_reason, "%s is not for a bridge", self->what);
        default:
                g_assert_not_reached();
        }
}

static int check_name(const Verification *self, AldPkiRole role, const char *expected, char **ret_reason)
{
        g_auto(GStrv) names = NULL;
        g_autofree char *joined = NULL;

        if (role == ALD_PKI_ROLE_BROKER) {
                if (ald_pki_certificate_is_for_host(self->certificate, expected))
                        return 0;
                names = ald_pki_certificate_names(self->certificate);
                joined = g_strjoinv(", ", names);
                return ald_pki_refuse(-ENXIO, ret_reason, "%s is for %s, not for %s", self->what,
                        *joined ? joined : "no name or address", expected);
        }
        if (strcmp(self->facts.common_name +
                            (role == ALD_PKI_ROLE_BRIDGE ? strlen(ALD_PKI_BRIDGE_PREFIX) : 0),
                    expected) == 0)
                return 0;
        return ald_pki_refuse(-ENXIO, ret_reason, "%s is not for %s %s", self->what,
                role == ALD_PKI_ROLE_NODE ? "node" : "site", expected);
}

int ald_pki_verify(X509 *ca, X509_CRL *crl, X509 *certificate, AldPkiRole role, const char *expected,
        uint64_t now, char **ret_reason)
{
        Verification verification = { .ca = ca, .crl = crl, .certificate = certificate, .now = now };
        g_autofree char *what = NULL;
        int r;

        ald_pki_certificate_facts(certificate, &verification.facts);
        what = *verification.facts.common_name
                       ? g_strdup_printf("the certificate of %s", verification.facts.common_name)
                       : g_strdup("the certificate, whose name is not plain text,");
        verification.what = what;
        r = check_crl(&verification, ret_reason);
        if (r == 0)
                r = check_chain(&verification, ret_reason);
        if (r == 0)
                r = check_role(&verification, role, ret_reason);
        if (r == 0 && expected)
                r = check_name(&verification, role, expected, ret_reason);
        ERR_clear_error();
        return r;
}
