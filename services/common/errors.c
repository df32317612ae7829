/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <glib.h>

#include "services/common/errors.h"

static const sd_bus_error_map errors[] = {
        SD_BUS_ERROR_MAP(ALD_ERROR_NO_SUCH_NODE, ALD_E_NO_SUCH_NODE),
        SD_BUS_ERROR_MAP(ALD_ERROR_NO_SUCH_KIND, ALD_E_NO_SUCH_KIND),
        SD_BUS_ERROR_MAP(ALD_ERROR_AMBIGUOUS_NAME, ALD_E_AMBIGUOUS_NAME),
        SD_BUS_ERROR_MAP(ALD_ERROR_NOT_STORED, ALD_E_NOT_STORED),
        SD_BUS_ERROR_MAP(ALD_ERROR_NOT_SUBSCRIBED, ALD_E_NOT_SUBSCRIBED),
        SD_BUS_ERROR_MAP(ALD_ERROR_NOT_JOINED, ALD_E_NOT_JOINED),
        SD_BUS_ERROR_MAP(ALD_ERROR_NODE_ONLINE, ALD_E_NODE_ONLINE),
        SD_BUS_ERROR_MAP(ALD_ERROR_NOT_MIRRORED, ALD_E_NOT_MIRRORED),
        SD_BUS_ERROR_MAP(ALD_ERROR_NO_SUCH_INHIBITOR, ALD_E_NO_SUCH_INHIBITOR),
        SD_BUS_ERROR_MAP(ALD_ERROR_INHIBITED, ALD_E_INHIBITED),
        SD_BUS_ERROR_MAP(ALD_ERROR_NO_SUCH_DEVICE, ALD_E_NO_SUCH_DEVICE),
        SD_BUS_ERROR_MAP(ALD_ERROR_BUSY, ALD_E_BUSY),
        SD_BUS_ERROR_MAP(ALD_ERROR_CANCELED, ALD_E_CANCELED),
        SD_BUS_ERROR_MAP(ALD_ERROR_STATE_UNAVAILABLE, ALD_E_STATE_UNAVAILABLE),
        SD_BUS_ERROR_MAP(ALD_ERROR_NOT_KEPT, ALD_E_NOT_KEPT),
        SD_BUS_ERROR_MAP(ALD_ERROR_NO_SUCH_SILENCE, ALD_E_NO_SUCH_SILENCE),
        SD_BUS_ERROR_MAP(ALD_ERROR_UNREADABLE_MODEL, ALD_E_UNREADABLE_MODEL),
        SD_BUS_ERROR_MAP_END,
};

const char *ald_error_describe(int r)
{
        switch (-r) {
        case ALD_E_NO_SUCH_NODE:
                return "No such node";
        case ALD_E_NO_SUCH_KIND:
                return "No such kind";
        case ALD_E_AMBIGUOUS_NAME:
                return "Several nodes have this name";
        case ALD_E_NOT_STORED:
                return "Not stored";
        case ALD_E_NOT_SUBSCRIBED:
                return "Not subscribed";
        case ALD_E_NOT_JOINED:
                return "Not in a cluster";
        case ALD_E_NODE_ONLINE:
                return "The node is online";
        case ALD_E_NOT_MIRRORED:
                return "Not mirrored";
        case ALD_E_NO_SUCH_INHIBITOR:
                return "No such lock";
        case ALD_E_INHIBITED:
                return "Inhibited";
        case ALD_E_NO_SUCH_DEVICE:
                return "No such device or port";
        case ALD_E_BUSY:
                return "In use";
        case ALD_E_CANCELED:
                return "Canceled";
        case ALD_E_STATE_UNAVAILABLE:
                return "The state service cannot be read";
        case ALD_E_NOT_KEPT:
                return "Nothing is recorded of this";
        case ALD_E_NO_SUCH_SILENCE:
                return "No such silence";
        case ALD_E_UNREADABLE_MODEL:
                return "The engine cannot read the model";
        case ALD_E_NO_SUCH_ADDRESS:
                return "No such address";
        case ALD_E_OWN_NODE:
                return "It is this node";
        case ALD_E_USER_LIMIT:
                return "The limit of the user is reached";
        case ALD_E_COMMON_LIMIT:
                return "The limit of all users is reached";
        case ALD_E_PROCESSORS_BUSY:
                return "The processors are in use";
        default:
                return g_strerror(-r);
        }
}

int ald_errors_register(void)
{
        return sd_bus_error_add_map(errors);
}

int ald_error_unreadable(int r, sd_bus_error *error)
{
        if (r != -EBADMSG)
                return r;
        return sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS,
                "A string contains control characters or is not valid UTF-8");
}
