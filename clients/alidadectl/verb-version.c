/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "clients/alidadectl/verbs.h"
#include "clients/command-line/print.h"

int ald_verb_version(const AldCtl *ctl)
{
        json_t *object;
        int r;

        if (!ctl->json) {
                puts("alidadectl " ALD_VERSION);
                return ald_print_finish();
        }
        object = json_object();
        json_object_set_new(object, "Version", json_string(ALD_VERSION));
        r = ald_print_json(ctl, object);
        json_decref(object);
        return r;
}
