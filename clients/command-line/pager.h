/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Shows a text in $ALIDADE_PAGER, $PAGER or less. Returns -ENOENT without showing anything if there is no
 * pager or the user does not want one.
 */
int ald_pager_show(const char *text);
