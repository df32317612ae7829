/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/capability.h>
#include <linux/ioctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include <glib.h>

#include "services/common/sysroot.h"
#include "services/witness/intel-memory.h"

#define FIRST_USER_NAMESPACE "user:[4026531837]"
#define REPLY_MAX (64u * 1024)
#define BYTES_MAX (UINT64_C(1) << 50) /* more is no memory of a device */

/*
 * From the kernel's drm/i915_drm.h and drm/xe_drm.h, which older distributions do not have. A reply of either
 * is the number of regions, padding, and regions that agree as far as they are used here.
 */
typedef struct Region {
        uint16_t class, instance;
        uint32_t unused;
        uint64_t total_bytes;
        uint64_t second_bytes; /* i915: unallocated, xe: used */
        uint64_t others[8];
} Region;

#define CLASS_DEVICE 1 /* the memory is on the device */
#define I915_HEAD 16u
#define XE_HEAD 8u

typedef struct I915Item {
        uint64_t query;
        int32_t length; /* 0 asks for it; an error is negative */
        uint32_t flags;
        uint64_t data;
} I915Item;

typedef struct I915Query {
        uint32_t n, flags;
        uint64_t items;
} I915Query;

#define I915_MEMORY_REGIONS 4
#define I915_QUERY _IOWR('d', 0x79, I915Query)

typedef struct XeQuery {
        uint64_t extensions;
        uint32_t query, size; /* 0 asks for it */
        uint64_t data;
        uint64_t reserved[2];
} XeQuery;

#define XE_MEM_REGIONS 1
#define XE_DEVICE_QUERY _IOWR('d', 0x40, XeQuery)

G_STATIC_ASSERT(sizeof(Region) == 88 && sizeof(XeQuery) == 40);

bool ald_intel_memory_is_told(int root)
{
        g_autofree char *namespace = NULL, *status = NULL;
        const char *line;
        uint64_t capabilities;

        if (ald_sysroot_link_name(root, "proc/self/ns/user", &namespace) < 0 ||
                !g_str_equal(namespace, FIRST_USER_NAMESPACE) ||
                ald_sysroot_read(root, "proc/self/status", &status) < 0)
                return false;
        line = strstr(status, "\nCapEff:");
        if (!line)
                return false;
        capabilities = g_ascii_strtoull(line + strlen("\nCapEff:"), NULL, 16);
        return (capabilities >> CAP_PERFMON & 1) != 0;
}

/* Asks for the reply, or for its length if there is no room. Returns the length, or a negative errno. */
static int64_t query_i915(int fd, void *reply, size_t room)
{
        I915Item item = { .query = I915_MEMORY_REGIONS, .length = (int32_t) room, .data = (uintptr_t) reply };
        I915Query query = { .n = 1, .items = (uintptr_t) &item };

        return ioctl(fd, I915_QUERY, &query) < 0 ? -errno : item.length;
}

static int64_t query_xe(int fd, void *reply, size_t room)
{
        XeQuery query = { .query = XE_MEM_REGIONS, .size = (uint32_t) room, .data = (uintptr_t) reply };

        return ioctl(fd, XE_DEVICE_QUERY, &query) < 0 ? -errno : (int64_t) query.size;
}

/* Adds up what is used of the regions on the device. */
static int sum_regions(const char *reply, size_t length, bool is_xe, uint64_t *ret_bytes)
{
        size_t head = is_xe ? XE_HEAD : I915_HEAD;
        bool is_on_device = false;
        uint64_t sum = 0;
        uint32_t n;

        memcpy(&n, reply, sizeof n);
        if (n > (length - head) / sizeof(Region))
                return -EBADMSG;
        for (uint32_t i = 0; i < n; i++) {
                Region region;

                memcpy(&region, reply + head + i * sizeof region, sizeof region);
                if (region.class != CLASS_DEVICE)
                        continue;
                if (region.second_bytes > region.total_bytes || region.total_bytes > BYTES_MAX)
                        return -EBADMSG;
                sum += is_xe ? region.second_bytes : region.total_bytes - region.second_bytes;
                is_on_device = true;
        }
        if (!is_on_device)
                return -ENODATA;
        *ret_bytes = sum;
        return 0;
}

int ald_intel_memory_used(int fd, const char *driver, uint64_t *ret_bytes)
{
        bool is_xe = g_str_equal(driver, "xe");
        int64_t (*query)(int fd, void *reply, size_t room) = is_xe ? query_xe : query_i915;
        g_autofree char *reply = NULL;
        int64_t room, length;

        if (!is_xe && !g_str_equal(driver, "i915"))
                return -EOPNOTSUPP;
        room = query(fd, NULL, 0);
        if (room < (int64_t) I915_HEAD || room > (int64_t) REPLY_MAX)
                return room < 0 ? (int) room : -EBADMSG;
        reply = g_malloc0((size_t) room);
        length = query(fd, reply, (size_t) room);
        if (length < 0)
                return (int) length;
        return length != room ? -EBADMSG : sum_regions(reply, (size_t) room, is_xe, ret_bytes);
}
