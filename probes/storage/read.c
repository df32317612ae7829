/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/common/probe-clock.h"
#include "probes/common/probe-fd.h"
#include "probes/common/wait.h"
#include "probes/storage/read.h"

#define LIMIT_NSEC (30 * ALD_NSEC_PER_SEC)
#define POLL_NSEC (100 * ALD_NSEC_PER_MSEC)
#define FILES_MAX 16u
#define HEADS_MAX 16u
#define EXTENTS_MAX 64u
#define OTHERS_PART 10u /* one part in this many of our bytes, which other programs may move */
#define HEAD ALD_DIRECT_ALIGNMENT_MIN

/* A part of a file, in whole blocks. */
typedef struct Segment {
        int fd;
        uint64_t offset; /* bytes */
        uint64_t blocks;
} Segment;

typedef struct Reader {
        const AldModelFileSystem *found;
        const AldStorageReadOptions *options;
        char *memory; /* a block for each slot */
        Segment segments[FILES_MAX];
        unsigned n_segments, n_heads;
        uint64_t n_blocks; /* of all segments */
        aio_context_t context;
        struct iocb slots[ALD_STORAGE_DEPTH];
        uint64_t submitted, done; /* blocks */
        AldDiskCounters before;
        AldStorageMeasure *measure;
} Reader;

/* These calls have no wrapper in the C library, and another library would be one more dependency. */
static int io_setup(unsigned n, aio_context_t *context)
{
        return syscall(SYS_io_setup, n, context) < 0 ? -errno : 0;
}

static int io_submit(aio_context_t context, struct iocb *request)
{
        return syscall(SYS_io_submit, context, 1L, &request) < 1 ? -errno : 0;
}

static int io_getevents(aio_context_t context, struct io_event *events, struct timespec *timeout)
{
        long n = syscall(SYS_io_getevents, context, 1L, (long) ALD_STORAGE_DEPTH, events, timeout);

        return n >= 0 ? (int) n : errno == EINTR ? 0 : -errno;
}

/* Destroys the context, and waits until its requests have ended. */
static void io_destroy(aio_context_t context)
{
        (void) syscall(SYS_io_destroy, context);
}

static void reader_clear(Reader *reader)
{
        if (reader->context)
                io_destroy(reader->context);
        for (unsigned i = 0; i < reader->n_segments; i++)
                close(reader->segments[i].fd);
        free(reader->memory);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Reader, reader_clear)

static bool has_counters(const Reader *reader)
{
        return reader->found->disks.names != NULL;
}

static bool read_counters(const Reader *reader, AldDiskCounters *ret)
{
        return ald_disk_counters_read(
                reader->options->root, (const char *const *) reader->found->disks.names, ret);
}

static int fail_busy(const Reader *reader, AldFailure *failure)
{
        g_autofree char *disks = g_strjoinv(", ", reader->found->disks.names);

        return ald_fail(failure, ALD_FAILURE_BUSY, "other programs use %s", disks);
}

/* Watches the disks for a second, to see whether other programs use them. */
static int watch_disks(Reader *reader, AldFailure *failure)
{
        struct pollfd stop = { reader->options->stop, POLLIN, 0 };
        AldDiskCounters first, second;
        int r;

        if (!has_counters(reader))
                return 0;
        if (!read_counters(reader, &first))
                return ald_fail(failure, ALD_FAILURE_INTERNAL, "the counters of its disks cannot be read");
        r = ald_wait(&stop, 1, ald_now() + ALD_NSEC_PER_SEC);
        if (r != 0)
                return ald_fail(failure, ALD_FAILURE_ABORTED, "stopped by a signal");
        if (!read_counters(reader, &second))
                return ald_fail(failure, ALD_FAILURE_INTERNAL, "the counters of its disks cannot be read");
        reader->measure->busy = ald_disk_counters_are_busy(&first, &second);
        return reader->measure->busy && reader->options->gives_way ? fail_busy(reader, failure) : 0;
}

/* Returns whether the blocks of a part of a file are on the disk as they are, so that they are read from
 * there. */
static bool are_plain(int fd, uint64_t offset, uint64_t bytes, bool required)
{
        const uint32_t odd = FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_ENCODED |
                             FIEMAP_EXTENT_DATA_ENCRYPTED | FIEMAP_EXTENT_NOT_ALIGNED |
                             FIEMAP_EXTENT_DATA_INLINE | FIEMAP_EXTENT_DATA_TAIL | FIEMAP_EXTENT_UNWRITTEN;
        const size_t size = sizeof(struct fiemap) + EXTENTS_MAX * sizeof(struct fiemap_extent);
        g_autofree struct fiemap *map = g_malloc0(size);

        for (uint64_t end = offset + bytes; offset < end;) {
                const struct fiemap_extent *extent;

                memset(map, 0, size);
                map->fm_start = offset;
                map->fm_length = end - offset;
                map->fm_extent_count = EXTENTS_MAX;
                if (ioctl(fd, FS_IOC_FIEMAP, map) < 0)
                        return !required;
                if (map->fm_mapped_extents == 0 || map->fm_mapped_extents > EXTENTS_MAX)
                        return false;
                for (uint32_t i = 0; i < map->fm_mapped_extents; i++) {
                        extent = &map->fm_extents[i];
                        /* A hole is not read from the disk. */
                        if (extent->fe_flags & odd || extent->fe_logical > offset ||
                                extent->fe_logical + extent->fe_length <= offset)
                                return false;
                        offset = extent->fe_logical + extent->fe_length;
                }
        }
        return true;
}

/* A file of btrfs may be compressed by its own flags, whatever the mount says. */
static bool is_compressed(int fd)
{
        int flags = 0;

        return ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0 || (flags & FS_COMPR_FL);
}

/* Returns whether these are the first bytes of a GGUF file, or of a safetensors file, which begins with the
 * length of the JSON that follows. */
static bool is_model(const char *head, uint64_t size)
{
        uint64_t length = 0;

        if (memcmp(head, "GGUF", 4) == 0)
                return true;
        for (unsigned i = 0; i < sizeof length; i++)
                length |= (uint64_t) (unsigned char) head[i] << (8 * i);
        return length > 0 && length < size && head[sizeof length] == '{';
}

/* Opens a file, and checks again everything that may have changed since it was found. Returns -ESTALE if
 * something has, -EPERM if reading it would change its access time. */
static int open_model(const Reader *reader, const AldModelFile *file)
{
        const int flags = O_RDONLY | O_DIRECT | O_NONBLOCK;
        const AldMount *mount = file->mount;
        ald_fd int fd = ald_storage_open(reader->options->root, file->path, flags | O_NOATIME);
        struct statx stx;

        if (fd == -EPERM && mount->keeps_access_times)
                fd = ald_storage_open(reader->options->root, file->path, flags);
        if (fd < 0)
                return fd;
        if (statx(fd, "", AT_EMPTY_PATH, ALD_STORAGE_STATX_MASK, &stx) < 0)
                return -errno;
        if (!S_ISREG(stx.stx_mode) || stx.stx_ino != file->inode ||
                ald_storage_device(&stx) != file->device || stx.stx_size < file->size ||
                ald_storage_assess(mount, &stx, reader->options->now_realtime, 0) != ALD_STORAGE_READABLE)
                return -ESTALE;
        if (g_str_equal(mount->type, "btrfs") && is_compressed(fd))
                return -ESTALE;
        return ALD_STORAGE_BLOCK % ald_storage_alignment(&stx) == 0 ? ald_fd_steal(&fd) : -EOPNOTSUPP;
}

static bool check_content(Reader *reader, int fd, const AldModelFile *file)
{
        struct statx stx;
        size_t size;

        if (!file->by_content)
                return true;
        /* Any file may have such a name. */
        if (reader->n_heads >= HEADS_MAX || statx(fd, "", AT_EMPTY_PATH, ALD_STORAGE_STATX_MASK, &stx) < 0)
                return false;
        size = MAX(HEAD, ald_storage_alignment(&stx));
        reader->n_heads++;
        reader->measure->attempt_bytes += size;
        return are_plain(fd, 0, size, g_str_equal(file->mount->type, "btrfs")) &&
               pread(fd, reader->memory, size, 0) == (ssize_t) size && is_model(reader->memory, file->size);
}

/* Chooses the segments to read: as much as possible of the largest file, then of the next ones. */
static int choose_segments(Reader *reader, AldFailure *failure)
{
        uint64_t wanted = reader->options->bytes / ALD_STORAGE_BLOCK;
        const GPtrArray *files = reader->found->files;

        for (guint i = 0; i < files->len && reader->n_segments < FILES_MAX && reader->n_blocks < wanted;
                i++) {
                const AldModelFile *file = files->pdata[i];
                uint64_t whole = file->size / ALD_STORAGE_BLOCK, take = MIN(whole, wanted - reader->n_blocks);
                uint64_t start = (uint64_t) (g_random_double() * (double) (whole - take + 1));
                uint64_t offset = MIN(start, whole - take) * ALD_STORAGE_BLOCK;
                bool must_map = g_str_equal(file->mount->type, "btrfs");
                ald_fd int fd = open_model(reader, file);

                if (fd < 0 || !check_content(reader, fd, file) ||
                        (!file->mount->is_network &&
                                !are_plain(fd, offset, take * ALD_STORAGE_BLOCK, must_map)))
                        continue;
                reader->segments[reader->n_segments++] = (Segment){ ald_fd_steal(&fd), offset, take };
                reader->n_blocks += take;
        }
        if (reader->n_blocks * ALD_STORAGE_BLOCK >= ALD_STORAGE_BYTES_MIN)
                return 0;
        return ald_fail(failure, ALD_FAILURE_NO_PERMISSION,
                "its models cannot be opened, are none by their contents, or cannot be read without the page "
                "cache");
}

/* Allocates the blocks, and touches them before they are read into, since btrfs reads through the page cache
 * where a page is missing. */
static int allocate_memory(Reader *reader, AldFailure *failure)
{
        const size_t size = ALD_STORAGE_DEPTH * ALD_STORAGE_BLOCK;
        void *memory = NULL;

        if (posix_memalign(&memory, ALD_STORAGE_BLOCK, size) != 0)
                return ald_fail(failure, ALD_FAILURE_OUT_OF_MEMORY, "there is not enough memory");
        memset(memory, 1, size);
        reader->memory = memory;
        return 0;
}

static int submit_block(Reader *reader, unsigned slot, AldFailure *failure)
{
        uint64_t block = reader->submitted;
        const Segment *segment = reader->segments;
        struct iocb *request = &reader->slots[slot];
        int r;

        for (; block >= segment->blocks; segment++)
                block -= segment->blocks;
        *request = (struct iocb){
                .aio_data = slot,
                .aio_lio_opcode = IOCB_CMD_PREAD,
                .aio_fildes = (uint32_t) segment->fd,
                .aio_buf = (uint64_t) (uintptr_t) (reader->memory + slot * ALD_STORAGE_BLOCK),
                .aio_nbytes = ALD_STORAGE_BLOCK,
                .aio_offset = (int64_t) (segment->offset + block * ALD_STORAGE_BLOCK),
        };
        reader->submitted++;
        reader->measure->attempt_bytes += ALD_STORAGE_BLOCK;
        r = io_submit(reader->context, request);
        return r < 0 ? ald_fail(failure, ALD_FAILURE_INTERNAL, "cannot read: %s", g_strerror(-r)) : 0;
}

/* Compares the counters of the disks with our own bytes. Blocks that are under way may be counted already, or
 * not yet. */
static int check_other_programs(Reader *reader, uint64_t under_way, AldFailure *failure)
{
        uint64_t ours = reader->done * ALD_STORAGE_BLOCK, moved;
        AldDiskCounters now;

        if (!has_counters(reader) || !read_counters(reader, &now))
                return 0;
        moved = now.read_bytes - reader->before.read_bytes + now.written_bytes - reader->before.written_bytes;
        if (moved <= ours + under_way * ALD_STORAGE_BLOCK + ours / OTHERS_PART)
                return 0;
        reader->measure->busy = true;
        return reader->options->gives_way ? fail_busy(reader, failure) : 0;
}

static int handle_events(Reader *reader, const struct io_event *events, int n, AldFailure *failure)
{
        int r = 0;

        for (int i = 0; i < n && r >= 0; i++) {
                if (events[i].res != (int64_t) ALD_STORAGE_BLOCK)
                        return ald_fail(failure, ALD_FAILURE_INTERNAL, "cannot read: %s",
                                events[i].res < 0 ? g_strerror((int) -events[i].res)
                                                  : "a file has become shorter");
                reader->done++;
                if (reader->submitted < reader->n_blocks)
                        r = submit_block(reader, (unsigned) events[i].data, failure);
        }
        return r;
}

static bool is_stopped(const Reader *reader)
{
        struct pollfd stop = { reader->options->stop, POLLIN, 0 };

        return reader->options->stop >= 0 && poll(&stop, 1, 0) > 0;
}

static int read_blocks(Reader *reader, AldStorageWindows *windows, AldFailure *failure)
{
        uint64_t deadline = ald_now() + LIMIT_NSEC;
        int r = 0;

        for (unsigned i = 0; i < ALD_STORAGE_DEPTH && r >= 0; i++)
                r = submit_block(reader, i, failure);
        while (r >= 0 && reader->done < reader->n_blocks) {
                struct timespec timeout = { .tv_nsec = POLL_NSEC };
                struct io_event events[ALD_STORAGE_DEPTH];
                uint64_t now;
                int n = io_getevents(reader->context, events, &timeout);

                now = ald_now();
                if (n < 0)
                        return ald_fail(failure, ALD_FAILURE_INTERNAL, "cannot read: %s", g_strerror(-n));
                r = handle_events(reader, events, n, failure);
                if (r < 0)
                        return r;
                if (is_stopped(reader))
                        return ald_fail(failure, ALD_FAILURE_ABORTED, "stopped by a signal");
                if (ald_storage_windows_add(windows, reader->done * ALD_STORAGE_BLOCK, now)) {
                        r = check_other_programs(reader, reader->submitted - reader->done, failure);
                        ald_progress_report(reader->options->progress, "read",
                                (double) reader->done / (double) reader->n_blocks);
                }
                /* A slow disk gets a figure, too. */
                if (now > deadline)
                        break;
        }
        return r;
}

/* Fails if the data did not come from the disks. Otherwise a cache below the file system would be measured,
 * such as one of the driver of a RAID controller. */
static int check_disks(Reader *reader, AldFailure *failure)
{
        AldDiskCounters after;
        uint64_t ours = reader->done * ALD_STORAGE_BLOCK;
        int r = check_other_programs(reader, reader->submitted - reader->done, failure);

        if (r < 0 || !has_counters(reader) || !read_counters(reader, &after))
                return r;
        if (after.read_bytes - reader->before.read_bytes < ours - ours / OTHERS_PART)
                return ald_fail(failure, ALD_FAILURE_WRONG_RESULT,
                        "by the counters of its disks, it came from memory, not from the disks");
        return 0;
}

int ald_storage_measure(const AldModelFileSystem *found, const AldStorageReadOptions *options,
        AldStorageMeasure *ret, AldFailure *failure)
{
        AldStorageMeasure measure = { .rate = NAN, .median = NAN, .interval = NAN, .spread = NAN };
        g_auto(Reader) reader = { .found = found, .options = options, .measure = &measure };
        g_autoptr(AldStorageWindows) windows = NULL;
        int r = watch_disks(&reader, failure);

        if (r >= 0)
                r = allocate_memory(&reader, failure);
        if (r >= 0)
                r = choose_segments(&reader, failure);
        if (r >= 0 && (r = io_setup(ALD_STORAGE_DEPTH, &reader.context)) < 0)
                r = ald_fail(failure, ALD_FAILURE_INTERNAL, "cannot read: %s", g_strerror(-r));
        if (r >= 0 && has_counters(&reader) && !read_counters(&reader, &reader.before))
                r = ald_fail(failure, ALD_FAILURE_INTERNAL, "the counters of its disks cannot be read");
        if (r >= 0) {
                windows = ald_storage_windows_new(reader.n_blocks * ALD_STORAGE_BLOCK);
                ald_progress_report(options->progress, "read", 0);
                r = read_blocks(&reader, windows, failure);
        }
        if (r >= 0)
                r = check_disks(&reader, failure);
        if (r >= 0 && !ald_storage_windows_figures(windows, &measure))
                r = ald_fail(failure, ALD_FAILURE_TIMEOUT, "the disk is too slow");
        if (r < 0)
                measure = (AldStorageMeasure){ measure.attempt_bytes, 0, NAN, NAN, NAN, NAN, false };
        *ret = measure;
        return r;
}
