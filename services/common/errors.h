/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The D-Bus errors of our own. errors.c maps each to an errno. */
#define ALD_ERROR_NO_SUCH_NODE "org.alidade.Error.NoSuchNode"
#define ALD_ERROR_NO_SUCH_KIND "org.alidade.Error.NoSuchKind"
#define ALD_ERROR_AMBIGUOUS_NAME "org.alidade.Error.AmbiguousName"
#define ALD_ERROR_NOT_STORED "org.alidade.Error.NotStored"
#define ALD_ERROR_NOT_SUBSCRIBED "org.alidade.Error.NotSubscribed"

int ald_errors_register(void);
