/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* As precompiled.h, for the desktop program: GTK has by far the most headers of all that we use. */
#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>

#include "precompiled.h"
