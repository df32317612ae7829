/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Shows a text in $ALIDADE_PAGER, $PAGER or less. Returns -ENOENT, having shown nothing, where there is no
 * pager or the user wants none.
 */
int ald_pager_show(const char *text);
