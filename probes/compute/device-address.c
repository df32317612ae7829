/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "probes/compute/device-address.h"
#include "probes/compute/query.h"

/* Questions of extensions, by the numbers of their specifications. */
#define QUERY_KHR_PCI_BUS_INFO 0x410f
#define QUERY_KHR_UUID 0x106a
#define QUERY_NV_PCI_BUS 0x4008
#define QUERY_NV_PCI_SLOT 0x4009
#define QUERY_NV_PCI_DOMAIN 0x400a
#define QUERY_AMD_TOPOLOGY 0x4037
#define AMD_TOPOLOGY_PCIE 1u
#define UUID_SIZE 16u

typedef struct PciAddress {
        cl_uint domain, bus, device, function;
} PciAddress;

typedef struct AmdTopology {
        cl_uint type;
        char unused[17];
        unsigned char bus, device, function;
} AmdTopology;

static bool read_khr(const AldCl *cl, cl_device_id id, const AldOpenclTarget *device, PciAddress *ret)
{
        return ald_opencl_target_has(device, "cl_khr_pci_bus_info") &&
               ald_query(cl, id, QUERY_KHR_PCI_BUS_INFO, ret, sizeof *ret);
}

static bool read_nv(const AldCl *cl, cl_device_id id, const AldOpenclTarget *device, PciAddress *ret)
{
        cl_uint bus, slot;

        if (!ald_opencl_target_has(device, "cl_nv_device_attribute_query") ||
                !ald_query(cl, id, QUERY_NV_PCI_BUS, &bus, sizeof bus) ||
                !ald_query(cl, id, QUERY_NV_PCI_SLOT, &slot, sizeof slot))
                return false;
        *ret = (PciAddress){ ald_query_uint(cl, id, QUERY_NV_PCI_DOMAIN), bus, slot >> 3, slot & 7 };
        return true;
}

static bool read_amd(const AldCl *cl, cl_device_id id, const AldOpenclTarget *device, PciAddress *ret)
{
        AmdTopology topology;

        if (!ald_opencl_target_has(device, "cl_amd_device_attribute_query") ||
                !ald_query(cl, id, QUERY_AMD_TOPOLOGY, &topology, sizeof topology) ||
                topology.type != AMD_TOPOLOGY_PCIE)
                return false;
        *ret = (PciAddress){ 0, topology.bus, topology.device, topology.function };
        return true;
}

char *ald_opencl_target_address(const AldCl *cl, cl_device_id id, const AldOpenclTarget *device)
{
        PciAddress pci;

        if (!read_khr(cl, id, device, &pci) && !read_nv(cl, id, device, &pci) &&
                !read_amd(cl, id, device, &pci))
                return NULL;
        return g_strdup_printf("%04x:%02x:%02x.%x", pci.domain, pci.bus, pci.device, pci.function);
}

char *ald_opencl_target_uuid(const AldCl *cl, cl_device_id id, const AldOpenclTarget *device)
{
        unsigned char uuid[UUID_SIZE];
        GString *text;

        if (!ald_opencl_target_has(device, "cl_khr_device_uuid") ||
                !ald_query(cl, id, QUERY_KHR_UUID, uuid, sizeof uuid))
                return NULL;
        text = g_string_new(NULL);
        for (size_t i = 0; i < UUID_SIZE; i++)
                g_string_append_printf(
                        text, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
        return g_string_free(text, FALSE);
}

bool ald_opencl_target_is_address(const char *text)
{
        static const char form[] = "hhhh:hh:hh.h";
        size_t length = strlen(text), domain = length >= strlen(form) ? length - strlen(form) : 0;

        /* Domains of some machines have more digits. */
        if (length < strlen(form) || domain > 4)
                return false;
        for (size_t i = 0; i < length; i++) {
                char wanted = i < domain ? 'h' : form[i - domain];

                if (wanted == 'h' ? !g_ascii_isxdigit(text[i]) || g_ascii_isupper(text[i])
                                  : text[i] != wanted)
                        return false;
        }
        return true;
}
