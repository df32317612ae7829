/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "probes/socket/keys.h"

static int load_certificates(const AldProbeOptions *options, bool server, AldTls **ret, char **ret_error)
{
        g_auto(AldPkiIdentity) identity = {};
        int r = ald_pki_identity_load(options->identity, options->crl, &identity, ret_error);

        return r < 0 ? r : ald_tls_new_for_peer(&identity, server, options->peer, ret, ret_error);
}

static int load_key(const AldProbeOptions *options, bool server, AldTls **ret, char **ret_error)
{
        AldSharedKey key;
        int r = ald_shared_key_load(options->key_file, &key, ret_error);

        if (r >= 0)
                r = ald_tls_new_for_key(&key, server, ret, ret_error);
        explicit_bzero(&key, sizeof key);
        return r;
}

int ald_keys_load(const AldProbeOptions *options, bool server, AldTls **ret, AldFailure *failure)
{
        g_autofree char *error = NULL;
        int r = options->identity ? load_certificates(options, server, ret, &error)
                                  : load_key(options, server, ret, &error);

        return r < 0 ? ald_fail(failure, ALD_FAILURE_TLS_FAILED, "%s", error ?: "no keys") : 0;
}
