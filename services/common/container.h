/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* Whether the root is that of a container, by what container managers leave inside, or by its control groups;
 * see services/common/sysroot.h. */
bool ald_root_is_container(int root);
