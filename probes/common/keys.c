/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "pki/types.h"
#include "probes/common/command-line.h"
#include "probes/common/keys.h"

static int load_certificates(const AldKeyFiles *files, bool server, AldTls **ret, char **ret_error)
{
        g_auto(AldPkiIdentity) identity = {};
        int r = ald_pki_identity_load(files->identity, files->crl, &identity, ret_error);

        return r < 0 ? r : ald_tls_new_for_peer(&identity, server, files->peer, ret, ret_error);
}

static int load_key(const AldKeyFiles *files, bool server, AldTls **ret, char **ret_error)
{
        AldSharedKey key;
        int r = ald_shared_key_load(files->key_file, &key, ret_error);

        if (r >= 0)
                r = ald_tls_new_for_key(&key, server, ret, ret_error);
        explicit_bzero(&key, sizeof key);
        return r;
}

int ald_keys_load(const AldKeyFiles *files, bool server, AldTls **ret, AldFailure *failure)
{
        g_autofree char *error = NULL;
        int r = files->identity ? load_certificates(files, server, ret, &error)
                                : load_key(files, server, ret, &error);

        return r < 0 ? ald_fail(failure, ALD_FAILURE_TLS_FAILED, "%s", error ?: "no keys") : 0;
}

int ald_keys_check(const AldKeyFiles *files, char **ret_error)
{
        if (!files->identity && !files->key_file)
                return ald_command_line_refuse(ret_error, "one of --key-file and --identity is needed");
        if (files->identity && files->key_file)
                return ald_command_line_refuse(ret_error, "--key-file and --identity cannot be combined");
        if ((files->peer || files->crl) && !files->identity)
                return ald_command_line_refuse(ret_error, "--peer and --crl need --identity");
        if (files->peer && !ald_pki_is_node_id(files->peer))
                return ald_command_line_refuse(ret_error, "--peer: not a node id: %s", files->peer);
        return 0;
}
