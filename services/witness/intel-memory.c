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

/*
 * From the kernel's drm/i915_drm.h and drm/xe_drm.h, which older distributions do not have.
 */
#define CLASS_DEVICE 1 /* the memory is on the device */

typedef struct I915Region {
        uint16_t class, instance;
        uint32_t reserved0;
        uint64_t probed_bytes, unallocated_bytes;
        uint64_t reserved[8];
} I915Region;

typedef struct I915Regions {
        uint32_t n;
        uint32_t reserved[3];
        I915Region regions[];
} I915Regions;

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

typedef struct XeRegion {
        uint16_t class, instance;
        uint32_t page_bytes;
        uint64_t total_bytes, used_bytes;
        uint64_t visible_bytes, visible_used_bytes;
        uint64_t reserved[6];
} XeRegion;

typedef struct XeRegions {
        uint32_t n, reserved;
        XeRegion regions[];
} XeRegions;

typedef struct XeQuery {
        uint64_t extensions;
        uint32_t query, size; /* 0 asks for it */
        uint64_t data;
        uint64_t reserved[2];
} XeQuery;

#define XE_MEM_REGIONS 1
#define XE_DEVICE_QUERY _IOWR('d', 0x40, XeQuery)

G_STATIC_ASSERT(sizeof(I915Region) == 88 && sizeof(XeRegion) == 88 && sizeof(XeQuery) == 40);

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

static int add_region(unsigned class, uint64_t total, uint64_t used, uint64_t *sum)
{
        if (class != CLASS_DEVICE)
                return 0;
        if (used > total || *sum + used < used)
                return -EBADMSG;
        *sum += used;
        return 1;
}

/* Asks for the size of the reply, then for the reply. */
static int query_i915(int fd, uint64_t *sum)
{
        I915Item item = { .query = I915_MEMORY_REGIONS };
        I915Query query = { .n = 1, .items = (uintptr_t) &item };
        g_autofree I915Regions *reply = NULL;
        int r, n = 0;

        if (ioctl(fd, I915_QUERY, &query) < 0)
                return -errno;
        if (item.length < (int32_t) sizeof *reply || item.length > (int32_t) REPLY_MAX)
                return item.length < 0 ? item.length : -EBADMSG;
        reply = g_malloc0((size_t) item.length);
        item.data = (uintptr_t) reply;
        if (ioctl(fd, I915_QUERY, &query) < 0)
                return -errno;
        if (item.length < 0 || reply->n > ((size_t) item.length - sizeof *reply) / sizeof *reply->regions)
                return -EBADMSG;
        for (uint32_t i = 0; i < reply->n; i++) {
                const I915Region *region = &reply->regions[i];
                uint64_t free_bytes = MIN(region->unallocated_bytes, region->probed_bytes);

                r = add_region(region->class, region->probed_bytes, region->probed_bytes - free_bytes, sum);
                if (r < 0)
                        return r;
                n += r;
        }
        return n;
}

static int query_xe(int fd, uint64_t *sum)
{
        XeQuery query = { .query = XE_MEM_REGIONS };
        g_autofree XeRegions *reply = NULL;
        int r, n = 0;

        if (ioctl(fd, XE_DEVICE_QUERY, &query) < 0)
                return -errno;
        if (query.size < sizeof *reply || query.size > REPLY_MAX)
                return -EBADMSG;
        reply = g_malloc0(query.size);
        query.data = (uintptr_t) reply;
        if (ioctl(fd, XE_DEVICE_QUERY, &query) < 0)
                return -errno;
        if (reply->n > (query.size - sizeof *reply) / sizeof *reply->regions)
                return -EBADMSG;
        for (uint32_t i = 0; i < reply->n; i++) {
                const XeRegion *region = &reply->regions[i];

                r = add_region(region->class, region->total_bytes, region->used_bytes, sum);
                if (r < 0)
                        return r;
                n += r;
        }
        return n;
}

int ald_intel_memory_used(int fd, const char *driver, uint64_t *ret_bytes)
{
        uint64_t sum = 0;
        int n = g_str_equal(driver, "i915") ? query_i915(fd, &sum)
                : g_str_equal(driver, "xe") ? query_xe(fd, &sum)
                                            : -EOPNOTSUPP;

        if (n <= 0)
                return n < 0 ? n : -ENODATA;
        *ret_bytes = sum;
        return 0;
}
