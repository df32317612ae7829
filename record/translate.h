/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Marks texts for translation: _() and ngettext() translate, while N_() only marks texts that are translated
 * where they are shown. To be included by .c files only. A text stays English in a program that does not both
 * set a locale for messages and name the domain, as only the desktop program does.
 */

#define GETTEXT_PACKAGE "alidade"
#include <glib.h>
#include <glib/gi18n-lib.h>

#undef ngettext
#define ngettext(one, many, n) g_dngettext(GETTEXT_PACKAGE, one, many, n)
