/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What most files include. Reading it takes longer than compiling what follows, so it is read once per
 * library. No file includes this one: a build with -Db_pch=false finds what a file fails to include. The
 * compiler would warn of #pragma once here.
 */
#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Libraries without the bus may not know where it is. */
#if __has_include(<systemd/sd-bus.h>)
#include <systemd/sd-bus.h>
#endif

#include "record/schema.h"
