/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Our own D-Bus errors. */
#define ALD_ERROR_NO_SUCH_NODE "org.alidade.Error.NoSuchNode"
#define ALD_ERROR_NO_SUCH_KIND "org.alidade.Error.NoSuchKind"
#define ALD_ERROR_AMBIGUOUS_NAME "org.alidade.Error.AmbiguousName"
#define ALD_ERROR_NOT_STORED "org.alidade.Error.NotStored"
#define ALD_ERROR_NOT_SUBSCRIBED "org.alidade.Error.NotSubscribed"
#define ALD_ERROR_NOT_JOINED "org.alidade.Error.NotJoined"
#define ALD_ERROR_NODE_ONLINE "org.alidade.Error.NodeOnline"
#define ALD_ERROR_NOT_MIRRORED "org.alidade.Error.NotMirrored"
#define ALD_ERROR_NO_SUCH_INHIBITOR "org.alidade.Error.NoSuchInhibitor"
#define ALD_ERROR_INHIBITED "org.alidade.Error.Inhibited"
#define ALD_ERROR_NO_SUCH_DEVICE "org.alidade.Error.NoSuchDevice"
#define ALD_ERROR_BUSY "org.alidade.Error.Busy"
#define ALD_ERROR_CANCELED "org.alidade.Error.Canceled"
#define ALD_ERROR_STATE_UNAVAILABLE "org.alidade.Error.StateUnavailable"
#define ALD_ERROR_NOT_KEPT "org.alidade.Error.NotKept"
#define ALD_ERROR_NO_SUCH_SILENCE "org.alidade.Error.NoSuchSilence"
#define ALD_ERROR_UNREADABLE_MODEL "org.alidade.Error.UnreadableModel"
