/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "record/kind.h"

#define INTERFACE_PREFIX "org.alidade."

int ald_kind_from_name(const char *name)
{
        for (int kind = 0; kind < ALD_N_KINDS; kind++)
                if (strcmp(ald_kinds[kind].name, name) == 0)
                        return kind;
        return -ENOENT;
}

int ald_kind_from_interface(const char *interface)
{
        if (strncmp(interface, INTERFACE_PREFIX, strlen(INTERFACE_PREFIX)) != 0)
                return -ENOENT;
        return ald_kind_from_name(interface + strlen(INTERFACE_PREFIX));
}
