/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/common/sysroot.h"
#include "services/telemetry/fabric/fabric-rows.h"

AldFabricRows *ald_fabric_rows_new(int root)
{
        AldFabricRows *rows = g_new(AldFabricRows, 1);

        *rows = (AldFabricRows){
                .root = root,
                .strings = g_string_chunk_new(256),
                .lists = g_ptr_array_new_with_free_func(g_free),
                .rdma_ports = g_array_new(FALSE, FALSE, sizeof(AldRdmaPort)),
                .domains = g_array_new(FALSE, FALSE, sizeof(AldThunderboltDomain)),
                .connections = g_array_new(FALSE, FALSE, sizeof(AldThunderboltPort)),
        };
        return rows;
}

void ald_fabric_rows_free(AldFabricRows *rows)
{
        g_array_unref(rows->rdma_ports);
        g_array_unref(rows->domains);
        g_array_unref(rows->connections);
        g_ptr_array_unref(rows->lists);
        g_string_chunk_free(rows->strings);
        g_free(rows);
}

bool ald_fabric_has_room(AldFabricRows *rows, const GArray *array)
{
        if (array->len < ALD_FABRIC_ROWS_MAX)
                return true;
        rows->left_out++;
        return false;
}

/* The file does not exist, the driver does not support it, or the device has just disappeared. */
static bool is_usual(int error)
{
        return error == -ENOENT || error == -ENOTDIR || error == -ENODATA || error == -ENODEV ||
               error == -EINVAL;
}

const char *ald_fabric_read(AldFabricRows *rows, const char *directory, const char *file)
{
        g_autofree char *path = g_strdup_printf("%s/%s", directory, file), *text = NULL;
        int r = ald_sysroot_read_string(rows->root, path, &text);

        if (r < 0) {
                if (!is_usual(r))
                        g_warning("%s: %s", path, g_strerror(-r));
                return NULL;
        }
        return g_string_chunk_insert_const(rows->strings, text);
}

const char *ald_fabric_first_in(AldFabricRows *rows, const char *directory)
{
        g_auto(GStrv) names = NULL;

        if (ald_sysroot_list(rows->root, directory, &names) < 0 || !names[0])
                return NULL;
        return g_string_chunk_insert_const(rows->strings, names[0]);
}
