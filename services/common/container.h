/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* Returns whether the root is that of a container, judging by the files of container managers and by its
 * control groups. For `root` see services/common/sysroot.h. */
bool ald_root_is_container(int root);
