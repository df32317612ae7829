/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>

#include "probes/compute/opencl/cards.h"
#include "probes/compute/opencl/devices.h"

#define PLATFORMS_MAX 16u
#define DEVICES_MAX 64u /* of a platform */

GPtrArray *ald_devices_new(void)
{
        return g_ptr_array_new_with_free_func((GDestroyNotify) ald_opencl_target_free);
}

const AldOpenclTarget *ald_devices_find(const GPtrArray *devices, const char *id)
{
        for (guint i = 0; i < devices->len; i++) {
                const AldOpenclTarget *device = devices->pdata[i];

                if (g_strcmp0(device->listed.id, id) == 0)
                        return device;
        }
        return NULL;
}

/* Returns whether the text is the number of a GPU instance and of a compute instance, such as "1-0". */
static bool is_instance_number(const char *text)
{
        unsigned gpu, compute;
        char rest;

        return g_ascii_isdigit(*text) && sscanf(text, "%u-%u%c", &gpu, &compute, &rest) == 2 &&
               g_ascii_isdigit(strchr(text, '-')[1]);
}

int ald_devices_choose(
        const GPtrArray *devices, const char *id, const AldOpenclTarget **ret, AldFailure *failure)
{
        g_autofree char *address = g_strndup(id, strcspn(id, "/"));
        const AldOpenclTarget *device = ald_devices_find(devices, id);

        if (!device && strchr(id, '/') && is_instance_number(strchr(id, '/') + 1) &&
                ald_opencl_target_is_address(address)) {
                device = ald_devices_find(devices, address);
                if (device && !ald_opencl_target_is_instance(device))
                        device = NULL;
                if (device && device->has_siblings)
                        return ald_fail(failure, ALD_FAILURE_NO_SUCH_DEVICE,
                                "%s is ambiguous: OpenCL shows several MIG instances at %s", id, address);
        }
        if (!device)
                return ald_fail(failure, ALD_FAILURE_NO_SUCH_DEVICE, "OpenCL shows no device %s", id);
        *ret = device;
        return 0;
}

static void query_platform(const AldCl *cl, cl_platform_id platform, GPtrArray *devices)
{
        cl_device_id ids[DEVICES_MAX];
        cl_uint n = 0;

        if (cl->GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, DEVICES_MAX, ids, &n) != CL_SUCCESS)
                return;
        for (cl_uint i = 0; i < MIN(n, DEVICES_MAX); i++)
                g_ptr_array_add(devices, ald_opencl_target_new(cl, platform, ids[i]));
}

int ald_devices_query(const AldCl *cl, GPtrArray **ret, AldFailure *failure)
{
        cl_platform_id platforms[PLATFORMS_MAX];
        cl_uint n = 0;
        cl_int code = cl->GetPlatformIDs(PLATFORMS_MAX, platforms, &n);
        g_autoptr(GPtrArray) devices = ald_devices_new();

        if (code != CL_SUCCESS || n == 0)
                return ald_fail(failure, ALD_FAILURE_NO_PLATFORM, "no OpenCL driver is installed");
        for (cl_uint i = 0; i < MIN(n, PLATFORMS_MAX); i++)
                query_platform(cl, platforms[i], devices);
        if (devices->len == 0)
                return ald_fail(failure, ALD_FAILURE_NO_DEVICE, "the OpenCL drivers show no device");
        *ret = g_steal_pointer(&devices);
        return 0;
}

static bool is_same_device(const AldOpenclTarget *device, const AldOpenclTarget *other)
{
        return (device->listed.pci && g_strcmp0(device->listed.pci, other->listed.pci) == 0) ||
               (device->listed.uuid && g_strcmp0(device->listed.uuid, other->listed.uuid) == 0);
}

/* Returns whether another view of the device is known, also one that was taken for the card of its address
 * because its platform did not report that. */
static bool is_known(const AldOpenclTarget *device, const GPtrArray *known)
{
        if (device->listed.pci && ald_devices_find(known, device->listed.pci))
                return true;
        for (guint i = 0; i < known->len; i++)
                if (is_same_device(device, known->pdata[i]))
                        return true;
        return false;
}

/*
 * Returns the only card that the device can be, or NULL. Sets *ret_seen if another platform has shown every
 * card that it can be, so that this is a second view of one of them.
 */
static const AldCard *find_card(
        const AldOpenclTarget *device, const GPtrArray *known, const GPtrArray *cards, bool *ret_seen)
{
        const AldCard *found = NULL;
        unsigned n_open = 0, n_seen = 0;

        for (guint i = 0; i < cards->len; i++) {
                const AldCard *card = cards->pdata[i];
                const AldOpenclTarget *holder = ald_devices_find(known, card->id);

                if ((card->vendor != 0 && card->vendor != device->listed.vendor_id) ||
                        (holder && strcmp(holder->listed.platform, device->listed.platform) == 0))
                        continue;
                if (holder) {
                        n_seen++;
                } else {
                        n_open++;
                        found = card;
                }
        }
        *ret_seen = n_open == 0 && n_seen > 0;
        return n_open == 1 && n_seen == 0 ? found : NULL;
}

/* Makes an id from the name. It is never one that has a meaning, such as an address. */
static char *make_own_id(const AldOpenclTarget *device, const GPtrArray *known)
{
        const char *name = *device->listed.name ? device->listed.name : "opencl";
        bool taken = strcmp(name, ALD_CPU_ID) == 0 || ald_opencl_target_is_address(name);
        char *id = taken ? g_strdup_printf("%s#1", name) : g_strdup(name);

        for (unsigned n = 2; ald_devices_find(known, id); n++) {
                g_free(id);
                id = g_strdup_printf("%s#%u", name, n);
        }
        return id;
}

/* Returns the id of a device; NULL if the device is known already. */
static char *find_id(const AldOpenclTarget *device, const GPtrArray *known, const GPtrArray *cards)
{
        const AldCard *card;
        bool seen = false;

        if (device->type == ALD_LISTED_DEVICE_TYPE_CPU)
                return ald_devices_find(known, ALD_CPU_ID) ? NULL : g_strdup(ALD_CPU_ID);
        if (is_known(device, known))
                return NULL;
        if (device->listed.pci)
                return g_strdup(device->listed.pci);
        card = find_card(device, known, cards, &seen);
        if (seen)
                return NULL;
        return card ? g_strdup(card->id) : make_own_id(device, known);
}

/* Sorts the best platforms first, so that the devices of a later one are known already. */
static int compare_ranks(const void *a, const void *b)
{
        const AldOpenclTarget *one = *(const AldOpenclTarget *const *) a,
                              *other = *(const AldOpenclTarget *const *) b;

        return (int) other->listed.platform_rank - (int) one->listed.platform_rank;
}

static int compare_types(const void *a, const void *b)
{
        const AldOpenclTarget *one = *(const AldOpenclTarget *const *) a,
                              *other = *(const AldOpenclTarget *const *) b;

        return one->type != other->type ? (int) one->type - (int) other->type
                                        : strcmp(one->listed.id, other->listed.id);
}

/* One view of a device may report an address that another does not. */
static void share_addresses(GPtrArray *devices)
{
        for (guint i = 0; i < devices->len; i++)
                for (guint j = 0; j < devices->len; j++) {
                        AldOpenclTarget *device = devices->pdata[i];
                        const AldOpenclTarget *other = devices->pdata[j];

                        if (!device->listed.pci && is_same_device(device, other))
                                device->listed.pci = ald_opencl_target_take(
                                        device, g_strdup(other->listed.pci));
                }
}

/* Returns whether two devices are instances at the same address. Both must be of one platform, which shows
 * each instance once. */
static bool are_siblings(const AldOpenclTarget *device, const AldOpenclTarget *other)
{
        return device != other && ald_opencl_target_is_instance(device) &&
               ald_opencl_target_is_instance(other) && device->listed.pci &&
               g_strcmp0(device->listed.pci, other->listed.pci) == 0 &&
               g_strcmp0(device->listed.platform, other->listed.platform) == 0 &&
               (!device->listed.uuid || g_strcmp0(device->listed.uuid, other->listed.uuid) != 0);
}

static void mark_siblings(GPtrArray *devices)
{
        for (guint i = 0; i < devices->len; i++)
                for (guint j = 0; j < devices->len; j++)
                        if (are_siblings(devices->pdata[i], devices->pdata[j]))
                                ((AldOpenclTarget *) devices->pdata[i])->has_siblings = true;
}

void ald_devices_match(GPtrArray *devices, const GPtrArray *cards)
{
        g_autoptr(GPtrArray) known = g_ptr_array_new();

        share_addresses(devices);
        mark_siblings(devices);
        g_ptr_array_sort(devices, compare_ranks);
        for (guint i = 0; i < devices->len; i++) {
                AldOpenclTarget *device = devices->pdata[i];

                device->listed.id = ald_opencl_target_take(device, find_id(device, known, cards));
                if (device->listed.id)
                        g_ptr_array_add(known, device);
        }
        for (guint i = devices->len; i-- > 0;)
                if (!((AldOpenclTarget *) devices->pdata[i])->listed.id)
                        g_ptr_array_remove_index(devices, i);
        g_ptr_array_sort(devices, compare_types);
}
