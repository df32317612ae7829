/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How good what is said in words is; how that looks is for each client to decide. */
typedef enum AldTone {
        ALD_TONE_PLAIN,
        ALD_TONE_FAINT, /* of no importance */
        ALD_TONE_GOOD,
        ALD_TONE_WARNING,
        ALD_TONE_ERROR,
} AldTone;
