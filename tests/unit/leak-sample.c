/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "record/id.h"

/* LeakSanitizer must report "lose", and nothing else. */
static void *volatile kept;

int main(int argc, char *argv[])
{
        AldId id;

        /* As in all programs, what comes with the lowest library decides where leaks are searched for. */
        (void) ald_id_parse("", &id);
        kept = malloc(100);
        if (argc > 1 && strcmp(argv[1], "lose") == 0)
                kept = malloc(100);
        return 0;
}
