/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "common/config.h"

/* The keys of [history] in alidade.conf. */
extern const AldConfigKey ald_history_config_keys[];
