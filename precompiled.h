/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What most files include. Reading it takes longer than compiling what follows, so it is read once a library.
 * Each file still includes what it uses, and none this one: builds without precompiled headers (b_pch=false)
 * tell. The compiler would warn of "#pragma once" here.
 */
#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "record/schema.h"
