/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <systemd/sd-id128.h>

#include <glib.h>

#include "common/node-id.h"

/* All node ids are derived from it, so it must never change. */
#define APP_ID SD_ID128_MAKE(6d, 02, 4f, 1e, 68, ee, 4c, 01, 93, 23, 14, de, 45, 90, e8, f4)

/* Does for a given machine id what sd_id128_get_machine_app_specific() does: HMAC-SHA256 of the application's
 * id, cut to 128 bits and marked as a random UUID. */
static int derive_id(const char *machine_id, sd_id128_t *ret)
{
        g_autoptr(GHmac) hmac = NULL;
        const sd_id128_t app_id = APP_ID;
        sd_id128_t machine;
        guint8 digest[32];
        gsize n = sizeof digest;
        int r;

        r = sd_id128_from_string(machine_id, &machine);
        if (r < 0)
                return r;
        hmac = g_hmac_new(G_CHECKSUM_SHA256, machine.bytes, sizeof machine.bytes);
        g_hmac_update(hmac, app_id.bytes, sizeof app_id.bytes);
        g_hmac_get_digest(hmac, digest, &n);
        memcpy(ret->bytes, digest, sizeof ret->bytes);
        ret->bytes[6] = (ret->bytes[6] & 0x0f) | 0x40;
        ret->bytes[8] = (ret->bytes[8] & 0x3f) | 0x80;
        return 0;
}

int ald_node_id(char ret[static ALD_NODE_ID_SIZE])
{
        const char *given = g_getenv("ALIDADE_MACHINE_ID");
        sd_id128_t id;
        int r;

        if (given && *given) {
                r = derive_id(given, &id);
                if (r < 0)
                        g_critical(
                                "ALIDADE_MACHINE_ID=%s is not a machine id (32 hexadecimal digits)", given);
        } else {
                r = sd_id128_get_machine_app_specific(APP_ID, &id);
                if (r < 0)
                        g_critical("/etc/machine-id is missing or not initialized (%s): run "
                                   "systemd-machine-id-setup, then start this service again",
                                g_strerror(-r));
        }
        if (r < 0)
                return r;
        sd_id128_to_string(id, ret);
        return 0;
}
