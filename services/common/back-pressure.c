/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/common/service-private.h"

/* Fewer queued messages than this are normal. With more, only this many calls are still answered, since each
 * reply may have 16 MiB. */
#define UNSENT_MAX 16u

/* A client that calls and does not read makes the bus stop reading from us, but the bus still delivers calls.
 * sd-bus cannot write without reading, so these calls get minimal replies. */
static int on_message(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldService *service = userdata;
        uint64_t unsent = 0;

        if (sd_bus_message_is_method_call(message, NULL, NULL) <= 0)
                return 0;
        sd_bus_get_n_queued_write(service->bus, &unsent);
        if (unsent < UNSENT_MAX) {
                service->answers_behind = 0;
                return 0;
        }
        if (service->answers_behind++ < UNSENT_MAX)
                return 0;
        if (service->answers_behind == UNSENT_MAX + 1)
                g_warning("The bus does not accept messages; refusing calls until it does");
        return sd_bus_error_set(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
                "Earlier replies have not been delivered yet; try again");
}

int ald_back_pressure_add(AldService *service)
{
        return sd_bus_add_filter(service->bus, NULL, on_message, service);
}
