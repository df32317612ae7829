/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/storage/find.h"
#include "tests/unit/fake-root.h"

#define USEC_PER_SEC UINT64_C(1000000)
#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* Allocated without writing. */
static void add_file(FakeRoot *root, const char *path, uint64_t size)
{
        g_autofree char *full = g_build_filename(root->dir, path, NULL), *folder = g_path_get_dirname(full);
        int fd;

        g_assert_cmpint(g_mkdir_with_parents(folder, 0755), ==, 0);
        fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        g_assert_cmpint(fd, >=, 0);
        g_assert_cmpint(posix_fallocate(fd, 0, (off_t) size), ==, 0);
        close(fd);
}

/* Everything below the root is on one mount, of a disk that is there. */
static FakeRoot *make_root(const char *more)
{
        FakeRoot *root = fake_root_new();
        g_autofree char *lines = NULL, *number = NULL;
        struct statx stx;

        g_assert_cmpint(statx(root->fd, "", AT_EMPTY_PATH, ALD_STORAGE_STATX_MASK, &stx), ==, 0);
        lines = g_strdup_printf("%" G_GUINT64_FORMAT " 1 %u:%u / / ro - btrfs /dev/vda rw\n%s",
                (guint64) stx.stx_mnt_id, stx.stx_dev_major, stx.stx_dev_minor, more);
        number = g_strdup_printf("sys/dev/block/%u:%u", stx.stx_dev_major, stx.stx_dev_minor);
        fake_root_write(root, "proc/self/mountinfo", lines);
        fake_root_mkdir(root, "sys/devices/pci0/vda");
        fake_root_link(root, "sys/class/block/vda", "../../devices/pci0/vda");
        fake_root_link(root, number, "../../devices/pci0/vda");
        fake_root_link(root, "sys/fs/btrfs/0f0f/devices/vda", "../../../../devices/pci0/vda");
        return root;
}

static AldStorageSearchOptions options_of(FakeRoot *root, const char *const *paths)
{
        /* Long after the files were made. */
        return (AldStorageSearchOptions){
                .root = root->dir,
                .paths = paths,
                .now_realtime = (uint64_t) g_get_real_time() + 3600 * USEC_PER_SEC,
        };
}

static const AldModelFileSystem *first(const AldStorageSearch *search)
{
        g_assert_cmpuint(search->file_systems->len, ==, 1);
        return search->file_systems->pdata[0];
}

static void check_problem(const AldStorageSearch *search, guint i, const char *path, const char *obstacle)
{
        const AldStorageProblem *problem;

        g_assert_cmpuint(i, <, search->problems->len);
        problem = search->problems->pdata[i];
        g_assert_cmpstr(problem->path, ==, path);
        g_assert_cmpstr(ald_storage_obstacle_to_string(problem->obstacle), ==, obstacle);
        g_assert_cmpstr(problem->reason, !=, NULL);
}

static void test_models(void)
{
        static const char *const paths[] = { "/srv", "/srv/deep", NULL };
        g_autoptr(FakeRoot) root = make_root("");
        AldStorageSearchOptions options = options_of(root, paths);
        g_auto(AldStorageSearch) search = {};
        const AldModelFileSystem *found;

        add_file(root, "srv/b.gguf", ALD_MODEL_BYTES_MIN);
        add_file(root, "srv/deep/1/2/3/a.safetensors", ALD_MODEL_BYTES_MIN + 4096);
        add_file(root, "srv/blobs/sha256-" DIGEST, ALD_MODEL_BYTES_MIN);
        add_file(root, "srv/blobs/" DIGEST, ALD_MODEL_BYTES_MIN);
        /* None of these is a model, or is looked for. */
        add_file(root, "srv/small.gguf", ALD_MODEL_BYTES_MIN - 1);
        add_file(root, "srv/video.mp4", ALD_MODEL_BYTES_MIN);
        add_file(root, "srv/sha256-letters", ALD_MODEL_BYTES_MIN);
        add_file(root, "srv/.hidden/a.gguf", ALD_MODEL_BYTES_MIN);
        add_file(root, "srv/other/1/2/3/4/a.gguf", ALD_MODEL_BYTES_MIN);
        add_file(root, "elsewhere/a.gguf", ALD_MODEL_BYTES_MIN);
        fake_root_link(root, "srv/link.gguf", "b.gguf");
        fake_root_link(root, "srv/linked", "../elsewhere");
        fake_root_fifo(root, "srv/pipe.gguf");
        g_assert_cmpint(ald_storage_search(&options, &search), ==, 0);
        found = first(&search);
        /* Models below both paths are counted once. */
        g_assert_cmpuint(search.problems->len, ==, 0);
        g_assert_true(found->is_listed);
        g_assert_cmpuint(found->n_files, ==, 4);
        g_assert_cmpuint(found->bytes, ==, 4 * ALD_MODEL_BYTES_MIN + 4096);
        g_assert_cmpint(found->obstacle, ==, ALD_STORAGE_READABLE);
        g_assert_null(found->reason);
        g_assert_cmpuint(found->files->len, ==, 4);
        g_assert_cmpstr(((AldModelFile *) found->files->pdata[0])->path, ==, "/srv/deep/1/2/3/a.safetensors");
        g_assert_false(((AldModelFile *) found->files->pdata[1])->by_content);
        g_assert_true(((AldModelFile *) found->files->pdata[2])->by_content);
}

/* The file system is known by the mount point, as is the first path, below which nothing is found. */
static void test_hidden_path(void)
{
        static const char *const paths[] = { "/", "/.cache", NULL };
        g_autoptr(FakeRoot) root = make_root("");
        AldStorageSearchOptions options = options_of(root, paths);
        g_auto(AldStorageSearch) search = {};

        add_file(root, ".cache/a.gguf", ALD_MODEL_BYTES_MIN);
        g_assert_cmpint(ald_storage_search(&options, &search), ==, 0);
        g_assert_cmpuint(search.problems->len, ==, 0);
        g_assert_cmpuint(first(&search)->n_files, ==, 1);
}

static void check_refused(const AldStorageSearchOptions *options, const char *obstacle, const char *reason)
{
        g_auto(AldStorageSearch) search = {};
        const AldModelFileSystem *found;

        g_assert_cmpint(ald_storage_search(options, &search), ==, 0);
        found = first(&search);
        g_assert_cmpstr(ald_storage_obstacle_to_string(found->obstacle), ==, obstacle);
        g_assert_cmpstr(found->reason, ==, reason);
        g_assert_cmpuint(found->files->len, ==, 0);
}

static void test_refused_files(void)
{
        static const char *const paths[] = { "/srv", NULL };
        g_autoptr(FakeRoot) root = make_root("");
        AldStorageSearchOptions options = options_of(root, paths);
        g_autofree char *holes = g_build_filename(root->dir, "srv/holes.gguf", NULL);
        int fd;

        add_file(root, "srv/a.gguf", ALD_MODEL_BYTES_MIN);
        options.now_realtime -= 3600 * USEC_PER_SEC;
        check_refused(&options, "fresh", "its models were written in the last 10 minutes");
        options.now_realtime += 3600 * USEC_PER_SEC;
        fake_root_remove(root, "srv/a.gguf");
        fd = open(holes, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        g_assert_cmpint(ftruncate(fd, ALD_MODEL_BYTES_MIN), ==, 0);
        close(fd);
        check_refused(&options, "holes", "its models are not wholly on the disk");
}

/* Nothing is opened on a disk that sleeps: the folders are not even there. */
static void test_asleep(void)
{
        static const char *const paths[] = { "/srv", "/missing", NULL };
        g_autoptr(FakeRoot) root = make_root("");
        AldStorageSearchOptions options = options_of(root, paths);
        g_auto(AldStorageSearch) search = {};
        const AldModelFileSystem *found;

        fake_root_write(root, "sys/devices/pci0/power/runtime_status", "suspended\n");
        g_assert_cmpint(ald_storage_search(&options, &search), ==, 0);
        found = first(&search);
        g_assert_cmpuint(search.problems->len, ==, 0);
        g_assert_false(found->is_listed);
        g_assert_cmpint(found->obstacle, ==, ALD_STORAGE_ASLEEP);
        g_assert_cmpstr(found->reason, ==, "vda is suspended");
}

/* The table says what is mounted where; nothing of that is there, so whatever is opened is found missing. */
static void test_mounts(void)
{
        static const char *const paths[] = { "/srv", "/srv/auto/models", "/srv/nas", NULL };
        g_autoptr(FakeRoot) root = make_root("901 1 0:901 / /srv/auto rw - autofs systemd-1 rw\n"
                                             "902 1 0:902 / /srv/nas rw - nfs4 box:/models rw\n"
                                             "903 1 0:903 / /srv/below rw - ext4 /dev/sdb rw\n");
        AldStorageSearchOptions options = options_of(root, paths);
        g_auto(AldStorageSearch) search = {}, optional = {};

        add_file(root, "srv/a.gguf", ALD_MODEL_BYTES_MIN);
        add_file(root, "srv/below/b.gguf", ALD_MODEL_BYTES_MIN);
        add_file(root, "srv/nas/c.gguf", ALD_MODEL_BYTES_MIN);
        g_assert_cmpint(ald_storage_search(&options, &search), ==, 0);
        g_assert_cmpuint(first(&search)->n_files, ==, 1);
        g_assert_cmpuint(search.problems->len, ==, 2);
        check_problem(&search, 0, "/srv/auto/models", "not-mounted");
        check_problem(&search, 1, "/srv/nas", "not-found");
        options.optional = true;
        g_assert_cmpint(ald_storage_search(&options, &optional), ==, 0);
        g_assert_cmpuint(first(&optional)->n_files, ==, 1);
        g_assert_cmpuint(optional.problems->len, ==, 0);
}

static void test_paths(void)
{
        static const char *const paths[] = { "/missing", "/linked", "/linked/below", "/file", "/empty",
                NULL };
        g_autoptr(FakeRoot) root = make_root("");
        AldStorageSearchOptions options = options_of(root, paths);
        g_auto(AldStorageSearch) search = {};

        add_file(root, "real/below/a.gguf", ALD_MODEL_BYTES_MIN);
        fake_root_link(root, "linked", "real");
        fake_root_write(root, "file", "");
        fake_root_mkdir(root, "empty");
        g_assert_cmpint(ald_storage_search(&options, &search), ==, 0);
        g_assert_cmpuint(search.file_systems->len, ==, 0);
        check_problem(&search, 0, "/missing", "not-found");
        check_problem(&search, 1, "/linked", "symbolic-link");
        check_problem(&search, 2, "/linked/below", "symbolic-link");
        check_problem(&search, 3, "/file", "not-found");
        check_problem(&search, 4, "/empty", "no-model");
}

static void check_normal(const char *path, const char *expected)
{
        g_autofree char *normal = ald_storage_normalize(path);

        g_assert_cmpstr(normal, ==, expected);
}

static void test_normal(void)
{
        check_normal("/", "/");
        check_normal("//", "/");
        check_normal("/a//b/./c/", "/a/b/c");
        check_normal("/a/..b", "/a/..b");
        check_normal("/a/../b", NULL);
        check_normal("a", NULL);
        check_normal("", NULL);
}

static struct statx file_of(uint32_t direct)
{
        return (struct statx){
                .stx_mask = STATX_BASIC_STATS | STATX_DIOALIGN,
                .stx_size = 1000 * 512,
                .stx_blocks = 1000,
                .stx_uid = 1000,
                .stx_dio_mem_align = direct,
                .stx_dio_offset_align = direct,
        };
}

static void check_assessed(const char *line, const struct statx *stx, uid_t user, AldStorageObstacle expected)
{
        g_autoptr(GPtrArray) mounts = ald_mounts_parse(line);

        g_assert_cmpint(ald_storage_assess(mounts->pdata[0], stx, 3600 * USEC_PER_SEC, user), ==, expected);
}

/* The page cache is left alone only where that is certain. */
static void test_assessment(void)
{
        const char *ext4 = "1 0 8:1 / /a rw,noatime - ext4 /dev/sda1 rw",
                   *times = "1 0 8:1 / /a rw - ext4 a rw";
        const char *btrfs = "1 0 0:40 / /a ro - btrfs /dev/sda1 rw";
        const char *packed = "1 0 0:40 / /a ro - btrfs /dev/sda1 rw,compress-force=zstd:1";
        struct statx direct = file_of(512), cached = file_of(0), unknown = file_of(512);

        unknown.stx_mask = STATX_BASIC_STATS;
        check_assessed(ext4, &direct, 7, ALD_STORAGE_READABLE);
        check_assessed(ext4, &cached, 7, ALD_STORAGE_PAGE_CACHE);
        check_assessed(ext4, &unknown, 7, ALD_STORAGE_PAGE_CACHE);
        check_assessed(btrfs, &unknown, 7, ALD_STORAGE_READABLE);
        check_assessed(packed, &unknown, 7, ALD_STORAGE_PAGE_CACHE);
        check_assessed("1 0 0:41 / /a ro - nfs4 box:/m rw", &unknown, 7, ALD_STORAGE_READABLE);
        check_assessed("1 0 0:42 / /a ro - tmpfs tmpfs rw", &unknown, 7, ALD_STORAGE_PAGE_CACHE);
        check_assessed("1 0 0:43 / /a ro - fuse.x x rw", &unknown, 7, ALD_STORAGE_PAGE_CACHE);
        check_assessed(times, &direct, 7, ALD_STORAGE_ACCESS_TIME);
        check_assessed(times, &direct, 1000, ALD_STORAGE_READABLE);
        check_assessed(times, &direct, 0, ALD_STORAGE_READABLE);
        direct.stx_attributes = STATX_ATTR_ENCRYPTED;
        check_assessed(ext4, &direct, 7, ALD_STORAGE_PAGE_CACHE);
        direct.stx_attributes = 0;
        direct.stx_blocks = 949;
        check_assessed(ext4, &direct, 7, ALD_STORAGE_HOLES);
        direct.stx_blocks = 951;
        check_assessed(ext4, &direct, 7, ALD_STORAGE_READABLE);
        /* Ten minutes after it was written, and a time in the future. */
        direct.stx_mtime.tv_sec = 3000;
        check_assessed(ext4, &direct, 7, ALD_STORAGE_READABLE);
        direct.stx_mtime.tv_sec = 3001;
        check_assessed(ext4, &direct, 7, ALD_STORAGE_FRESH);
        direct.stx_mtime.tv_sec = 0;
        direct.stx_ctime.tv_sec = 3601;
        check_assessed(ext4, &direct, 7, ALD_STORAGE_FRESH);
}

static void test_alignment(void)
{
        struct statx stx = file_of(512);

        g_assert_cmpuint(ald_storage_alignment(&stx), ==, 4096);
        stx.stx_dio_offset_align = 16384;
        g_assert_cmpuint(ald_storage_alignment(&stx), ==, 16384);
        stx.stx_mask = STATX_BASIC_STATS;
        g_assert_cmpuint(ald_storage_alignment(&stx), ==, 4096);
}

static void test_no_mounts(void)
{
        static const char *const paths[] = { "/", NULL };
        g_autoptr(FakeRoot) root = fake_root_new();
        AldStorageSearchOptions options = options_of(root, paths);
        AldStorageSearch search = {};

        g_assert_cmpint(ald_storage_search(&options, &search), ==, -EIO);
        g_assert_null(search.mounts);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/storage-find/models", test_models);
        g_test_add_func("/storage-find/hidden-path", test_hidden_path);
        g_test_add_func("/storage-find/refused-files", test_refused_files);
        g_test_add_func("/storage-find/asleep", test_asleep);
        g_test_add_func("/storage-find/mounts", test_mounts);
        g_test_add_func("/storage-find/paths", test_paths);
        g_test_add_func("/storage-find/normal", test_normal);
        g_test_add_func("/storage-find/assessment", test_assessment);
        g_test_add_func("/storage-find/alignment", test_alignment);
        g_test_add_func("/storage-find/no-mounts", test_no_mounts);
        return g_test_run();
}
