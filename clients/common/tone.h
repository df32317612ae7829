/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How good or bad a described state is; each client decides how to show it. */
typedef enum AldTone {
        ALD_TONE_PLAIN,
        ALD_TONE_FAINT, /* unimportant */
        ALD_TONE_GOOD,
        ALD_TONE_WARNING,
        ALD_TONE_ERROR,
} AldTone;
