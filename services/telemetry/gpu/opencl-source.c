/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>

#include "record/message.h"
#include "services/telemetry/gpu/opencl-source.h"

#define TRIES 3u
#define OPEN_FOLDERS_MAX 16

struct AldOpenclSource {
        AldChild *child;
        AldOpenclAnswered answered;
        void *userdata;
        char *folder; /* for the files of the drivers, while the helper runs */
        unsigned tries_left;
};

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *place)
{
        return remove(path);
}

static void remove_folder(AldOpenclSource *source)
{
        if (!source->folder)
                return;
        if (nftw(source->folder, remove_one, OPEN_FOLDERS_MAX, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0)
                g_warning("Cannot remove %s: %s", source->folder, g_strerror(errno));
        g_clear_pointer(&source->folder, g_free);
}

static char *on_answer(const char *text, size_t length, void *userdata)
{
        AldOpenclSource *source = userdata;
        g_autoptr(AldRecord) answer = NULL;

        if (ald_message_parse(ALD_KIND_OPENCL_ANSWER, text, length, ALD_CHILD_MESSAGE_MAX, &answer, NULL) < 0)
                return g_strdup("its answer is invalid");
        source->tries_left = 0;
        ald_child_end(source->child);
        source->answered(answer, source->userdata);
        return NULL;
}

static void on_gone(void *userdata)
{
        remove_folder(userdata);
}

static const AldChildInfo helper = {
        .program = "alidade-opencl-list",
        .answered = on_answer,
        .gone = on_gone,
};

static const AldChildTiming default_timing = {
        .first = 60 * 1000,
        .retry = 10 * 1000,
        .retry_max = 5 * 60 * 1000,
};

AldOpenclSource *ald_opencl_source_new(
        const char *libexec_dir, const AldChildTiming *timing, AldOpenclAnswered answered, void *userdata)
{
        AldOpenclSource *source = g_new0(AldOpenclSource, 1);

        source->child = ald_child_new(&helper, timing ?: &default_timing, libexec_dir, source);
        source->answered = answered;
        source->userdata = userdata;
        source->tries_left = TRIES;
        return source;
}

void ald_opencl_source_free(AldOpenclSource *source)
{
        if (!source)
                return;
        ald_child_free(source->child);
        remove_folder(source);
        g_free(source);
}

void ald_opencl_source_request(AldOpenclSource *source)
{
        source->tries_left = TRIES;
        ald_child_end(source->child);
}

bool ald_opencl_source_is_wanted(const AldOpenclSource *source)
{
        return source->tries_left > 0;
}

/* Creates a folder for the drivers. They keep compiled programs in the home directory, and some show no
 * device if they cannot. */
static int make_folder(AldOpenclSource *source)
{
        static const char *const variables[] = { "HOME", "XDG_CACHE_HOME", "POCL_CACHE_DIR", "TMPDIR" };
        const char *runtime = g_getenv("RUNTIME_DIRECTORY");
        g_autofree char *base = runtime ? g_strndup(runtime, strcspn(runtime, ":"))
                                        : g_strdup(g_get_tmp_dir());
        g_autofree char *folder = g_build_filename(base, "alidade-opencl-XXXXXX", NULL);

        if (!g_mkdtemp(folder))
                return -errno;
        for (size_t i = 0; i < G_N_ELEMENTS(variables); i++)
                ald_child_setenv(source->child, variables[i], folder);
        source->folder = g_steal_pointer(&folder);
        return 0;
}

void ald_opencl_source_ask(AldOpenclSource *source)
{
        int r;

        if (source->tries_left == 0 || !ald_child_may_start(source->child))
                return;
        source->tries_left--;
        r = make_folder(source);
        if (r < 0) {
                g_warning("Cannot create a folder for OpenCL's drivers: %s", g_strerror(-r));
                return;
        }
        if (ald_child_ask(source->child, NULL) < 0)
                remove_folder(source);
}
