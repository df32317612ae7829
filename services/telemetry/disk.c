/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "services/common/fd.h"
#include "services/telemetry/disk.h"

/* One question to the kernel. It belongs to the main loop, but for its last three fields, which are the
 * thread's until the source is ready. */
typedef struct Question {
        struct Path *asker; /* NULL where nobody wants the answer any more */
        GSource *source;
        AldDiskAsk ask;
        char *path;
        int root;
        AldDiskPath answer;
        int error;
} Question;

typedef struct Path {
        AldDiskCollector *collector;
        char *name;
        AldDiskPath row;
        bool have_row;
        bool late; /* the question was given up, but has not been answered */
        bool complained;
        Question *question; /* NULL unless it owes an answer */
} Path;

struct AldDiskCollector {
        int root;
        AldDiskAsk ask;
        AldDiskChanged changed;
        void *userdata;
        guint patience; /* runs during a round of asking */
        size_t n_paths;
        AldDiskPath *rows; /* space to make the record in */
        Path paths[];
};

int ald_disk_ask(int root, const char *path, AldDiskPath *ret)
{
        uint64_t unit, total, available;
        struct statfs fs;
        ald_fd int fd = -1;

        while (*path == '/')
                path++;
        fd = openat(root, *path ? path : ".", O_PATH | O_CLOEXEC);
        if (fd < 0 || fstatfs(fd, &fs) < 0)
                return -errno;
        if (fs.f_type == AUTOFS_SUPER_MAGIC)
                return -EREMOTE;

        unit = (uint64_t) (fs.f_frsize > 0 ? fs.f_frsize : fs.f_bsize);
        if (fs.f_blocks == 0 || __builtin_mul_overflow(fs.f_blocks, unit, &total))
                return -ENODATA;
        ret->total_bytes = total;
        if (fs.f_bavail <= fs.f_blocks && !__builtin_mul_overflow(fs.f_bavail, unit, &available))
                ret->available_bytes = available;
        return 0;
}

static void question_free(Question *question)
{
        g_source_destroy(question->source);
        g_source_unref(question->source);
        ald_fd_close(&question->root);
        g_free(question->path);
        g_free(question);
}

/* Allocates nothing, so that no heap of its own is made for the thread. The question may be gone as soon as
 * the source is ready. */
static void *ask_in_thread(void *userdata)
{
        Question *question = userdata;
        g_autoptr(GSource) source = g_source_ref(question->source);

        question->error = question->ask(question->root, question->path, &question->answer);
        g_source_set_ready_time(source, 0);
        return NULL;
}

static void complain(Path *path, int error)
{
        if (path->complained)
                return;
        path->complained = true;
        if (error == -EREMOTE)
                g_info("%s has no row until somebody mounts it: it is an automount point", path->name);
        else
                g_warning("%s has no row until it tells its free space: %s", path->name, g_strerror(-error));
}

static void publish(AldDiskCollector *collector)
{
        AldDisk disk = ALD_DISK_INIT;
        size_t n = 0;

        for (size_t i = 0; i < collector->n_paths; i++)
                if (collector->paths[i].have_row)
                        collector->rows[n++] = collector->paths[i].row;
        disk.paths.items = collector->rows;
        disk.paths.n = n;
        collector->changed(&disk, collector->userdata);
}

static bool round_is_over(const AldDiskCollector *collector)
{
        for (size_t i = 0; i < collector->n_paths; i++)
                if (collector->paths[i].question && !collector->paths[i].late)
                        return false;
        return true;
}

static void end_round(AldDiskCollector *collector)
{
        g_clear_handle_id(&collector->patience, g_source_remove);
        publish(collector);
}

static void take_answer(Path *path, const Question *question)
{
        path->question = NULL;
        path->late = false;
        path->have_row = question->error >= 0;
        path->row = question->answer;
        path->row.id = path->name;
        if (question->error < 0)
                complain(path, question->error);
        if (round_is_over(path->collector))
                end_round(path->collector);
}

static gboolean answered(gpointer userdata)
{
        Question *question = userdata;

        if (question->asker)
                take_answer(question->asker, question);
        question_free(question);
        return G_SOURCE_REMOVE;
}

static gboolean dispatch(GSource *source, GSourceFunc callback, gpointer userdata)
{
        return callback(userdata);
}

/* Made by the main loop, and ready when the thread says so. */
static GSource *new_source(Question *question)
{
        static GSourceFuncs funcs = { .dispatch = dispatch };
        GSource *source = g_source_new(&funcs, sizeof(GSource));

        g_source_set_static_name(source, "disk");
        g_source_set_callback(source, answered, question, NULL);
        g_source_attach(source, NULL);
        return source;
}

static int ask(Path *path)
{
        Question *question = g_new(Question, 1);
        g_autoptr(GError) error = NULL;
        GThread *thread;

        *question = (Question){
                .asker = path,
                .source = new_source(question),
                .ask = path->collector->ask,
                .path = g_strdup(path->name),
                .root = fcntl(path->collector->root, F_DUPFD_CLOEXEC, 3),
                .answer = ALD_DISK_PATH_INIT,
        };
        thread = question->root < 0 ? NULL : g_thread_try_new("disk", ask_in_thread, question, &error);
        if (!thread) {
                question_free(question);
                return -EAGAIN;
        }
        g_thread_unref(thread);
        path->question = question;
        return 0;
}

static gboolean out_of_patience(gpointer userdata)
{
        AldDiskCollector *collector = userdata;

        collector->patience = 0;
        for (size_t i = 0; i < collector->n_paths; i++) {
                Path *path = &collector->paths[i];

                if (!path->question)
                        continue;
                path->late = true;
                path->have_row = false;
                complain(path, -ETIMEDOUT);
        }
        publish(collector);
        return G_SOURCE_REMOVE;
}

void ald_disk_collector_sample(AldDiskCollector *collector)
{
        for (size_t i = 0; i < collector->n_paths; i++) {
                Path *path = &collector->paths[i];
                int r = path->question ? 0 : ask(path);

                if (r < 0) {
                        path->have_row = false;
                        complain(path, r);
                }
        }
        if (round_is_over(collector))
                end_round(collector);
        else if (collector->patience == 0)
                collector->patience = g_timeout_add(ALD_DISK_PATIENCE_MSEC, out_of_patience, collector);
}

AldDiskCollector *ald_disk_collector_new(
        int root, const char *const *paths, AldDiskAsk ask_function, AldDiskChanged changed, void *userdata)
{
        size_t n = g_strv_length((char **) paths);
        AldDiskCollector *collector = g_malloc0(sizeof *collector + n * sizeof(Path));

        *collector = (AldDiskCollector){
                .root = root,
                .ask = ask_function,
                .changed = changed,
                .userdata = userdata,
                .n_paths = n,
                .rows = g_new0(AldDiskPath, n),
        };
        for (size_t i = 0; i < n; i++)
                collector->paths[i] = (Path){ .collector = collector, .name = g_strdup(paths[i]) };
        return collector;
}

void ald_disk_collector_free(AldDiskCollector *collector)
{
        g_clear_handle_id(&collector->patience, g_source_remove);
        for (size_t i = 0; i < collector->n_paths; i++) {
                if (collector->paths[i].question)
                        collector->paths[i].question->asker = NULL;
                g_free(collector->paths[i].name);
        }
        g_free(collector->rows);
        g_free(collector);
}
