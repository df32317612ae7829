/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"

/* Ends a service that the bus starts on demand, after a minute without work. */
typedef struct AldIdle AldIdle;

AldIdle *ald_idle_new(AldService *service);
void ald_idle_free(AldIdle *idle);

/* Call these when there is no more work, as at first, and when there is work again. */
void ald_idle_begin(AldIdle *idle);
void ald_idle_end(AldIdle *idle);
