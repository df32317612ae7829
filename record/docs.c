/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/docs.h"

const AldStructDocs *ald_docs_of(const AldStruct *type)
{
        for (const AldStructDocs *const *docs = ald_struct_docs; *docs; docs++)
                if ((*docs)->type == type)
                        return *docs;
        return NULL;
}
