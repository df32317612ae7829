/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/schema.h"

/* The owner of a process: the unit, container, job or session that its control group names. */

#define ALD_OWNER_NAME_MAX 96u

typedef struct AldOwner {
        AldHolderOwnerKind kind;       /* ALD_HOLDER_OWNER_KIND_N if the control group is unknown */
        char name[ALD_OWNER_NAME_MAX]; /* "" for a session, and for none */
} AldOwner;

/*
 * Finds the owner from a path such as /system.slice/ollama.service. The outermost part that names one counts,
 * since the owner of a control group may name those below it at will. The path may be any bytes; the
 * name consists of printable ASCII characters.
 */
void ald_owner_parse(const char *path, AldOwner *ret);
