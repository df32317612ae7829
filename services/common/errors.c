/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <systemd/sd-bus.h>

#include "services/common/errors.h"

static const sd_bus_error_map errors[] = {
        SD_BUS_ERROR_MAP(ALD_ERROR_NO_SUCH_NODE, ENOENT),
        SD_BUS_ERROR_MAP(ALD_ERROR_NO_SUCH_KIND, ENOENT),
        SD_BUS_ERROR_MAP(ALD_ERROR_AMBIGUOUS_NAME, ENOTUNIQ),
        SD_BUS_ERROR_MAP(ALD_ERROR_NOT_STORED, EIO),
        SD_BUS_ERROR_MAP(ALD_ERROR_NOT_SUBSCRIBED, ENOENT),
        SD_BUS_ERROR_MAP_END,
};

int ald_errors_register(void)
{
        return sd_bus_error_add_map(errors);
}
