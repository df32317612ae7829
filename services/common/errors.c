/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/common/errors.h"

static const sd_bus_error_map errors[] = {
        SD_BUS_ERROR_MAP(ALD_ERROR_NO_SUCH_NODE, ENOENT),
        SD_BUS_ERROR_MAP(ALD_ERROR_NO_SUCH_KIND, ENOENT),
        SD_BUS_ERROR_MAP(ALD_ERROR_AMBIGUOUS_NAME, ENOTUNIQ),
        SD_BUS_ERROR_MAP(ALD_ERROR_NOT_STORED, EIO),
        SD_BUS_ERROR_MAP(ALD_ERROR_NOT_SUBSCRIBED, ENOENT),
        SD_BUS_ERROR_MAP(ALD_ERROR_NOT_JOINED, ENOTCONN),
        SD_BUS_ERROR_MAP(ALD_ERROR_NODE_ONLINE, EBUSY),
        SD_BUS_ERROR_MAP(ALD_ERROR_NOT_MIRRORED, ENOENT),
        SD_BUS_ERROR_MAP(ALD_ERROR_NO_SUCH_INHIBITOR, ENOENT),
        SD_BUS_ERROR_MAP(ALD_ERROR_INHIBITED, EBUSY),
        SD_BUS_ERROR_MAP(ALD_ERROR_NO_SUCH_DEVICE, ENODEV),
        SD_BUS_ERROR_MAP(ALD_ERROR_BUSY, EADDRINUSE),
        SD_BUS_ERROR_MAP_END,
};

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
