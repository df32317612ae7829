/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/docs.h"

const AldStructDocs *ald_docs_of(const AldStruct *type)
{
        for (const AldStructDocs *const *docs = ald_struct_docs; *docs; docs++)
                if ((*docs)->type == type)
                        return *docs;
        return NULL;
}

bool ald_docs_is_series(const AldStruct *type, const AldField *field)
{
        const AldStructDocs *docs = ald_docs_of(type);

        return ald_field_is_figure(field) &&
               !(docs && docs->fields[field - type->fields].metric == ALD_FIELD_METRIC_NONE);
}
