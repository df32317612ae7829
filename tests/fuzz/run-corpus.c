/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stands in for libFuzzer: runs a target over every file of a folder. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char *argv[])
{
        g_autoptr(GDir) dir = argc == 2 ? g_dir_open(argv[1], 0, NULL) : NULL;
        unsigned n = 0;
        const char *name;

        if (!dir) {
                fprintf(stderr, "%s: needs a folder of inputs\n", argv[0]);
                return EXIT_FAILURE;
        }
        while ((name = g_dir_read_name(dir))) {
                g_autofree char *path = g_build_filename(argv[1], name, NULL);
                g_autofree char *data = NULL;
                gsize size;

                if (!g_file_get_contents(path, &data, &size, NULL)) {
                        fprintf(stderr, "%s: cannot be read\n", path);
                        return EXIT_FAILURE;
                }
                /* A copy of just this size, so that a sanitizer sees a read beyond its end. */
                g_autofree uint8_t *copy = g_malloc(MAX(size, 1));
                memcpy(copy, data, size);
                LLVMFuzzerTestOneInput(copy, size);
                n++;
        }
        printf("%u inputs\n", n);
        return n > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
