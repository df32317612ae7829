/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "state-client/model.h"

/* One reading of the whole state into a model, which must outlive it. */
typedef struct AldStateReading AldStateReading;

/* The end, which must not free the reading; with a problem if it could not be read. */
typedef void (*AldStateRead)(const char *problem, void *userdata);

int ald_state_reading_new(
        AldService *service, AldModel *model, AldStateRead ended, void *userdata, AldStateReading **ret);
void ald_state_reading_free(AldStateReading *reading);
