/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "services/common/sysroot.h"
#include "services/telemetry/gpu/gpu-names.h"
#include "services/telemetry/gpu/gpu-pcie.h"
#include "services/telemetry/host/kept-file.h"

#define DEVICES "sys/bus/pci/devices"
#define HOPS_MAX 32u
#define TEXT_MAX 64u
#define LANES_MAX 32u

/* From 8 GT/s on, 130 bits carry 128; from 64 GT/s on, a flit of 256 bytes carries 242. */
#define RATE_128B_130B UINT64_C(8000000000)
#define RATE_FLITS UINT64_C(64000000000)

/* Readings per period, which is five minutes of use. */
#define READINGS 60u

/* The highest value in this period, and in the one before; absent without a reading. */
typedef struct Seen {
        uint64_t recent, before;
        unsigned readings; /* in this period */
} Seen;

#define SEEN_NOTHING ((Seen){ ALD_ABSENT_UINT64, ALD_ABSENT_UINT64, 0 })

/* A link between the port above and the device or port below. */
typedef struct Link {
        bool has_port; /* false within some virtual machines */
        uint64_t lanes_max, slot_lanes, rate_max;
        Seen lanes, rate;         /* while the device was in use */
        AldKeptFile width, speed; /* current values, of the lower end */
} Link;

struct AldGpuPcie {
        int root;
        char *complex; /* pci0000:00 */
        char **hops;   /* addresses from the root port to the device */
        bool narrows;  /* its driver narrows an idle link */
        bool known;    /* the capabilities of the links were read */
        Link *links;   /* from the host to the device */
        guint n_links;
        int64_t busy_since; /* or when the links were last read; 0 while the device is not in use */
};

uint64_t ald_gpu_pcie_bandwidth(uint64_t lanes, uint64_t transfers_per_second)
{
        uint64_t bits = lanes * transfers_per_second;

        if (transfers_per_second >= RATE_FLITS)
                return bits * 242 / 256;
        if (transfers_per_second >= RATE_128B_130B)
                return bits * 128 / 130;
        return bits * 8 / 10;
}

uint64_t ald_gpu_pcie_parse_rate(const char *text)
{
        static const double rates[] = { 2.5, 5, 8, 16, 32, 64, 128 };
        char *end;
        double rate = g_ascii_strtod(text, &end);

        if (strncmp(end, " GT/s", strlen(" GT/s")) != 0)
                return ALD_ABSENT_UINT64;
        for (size_t i = 0; i < G_N_ELEMENTS(rates); i++)
                if (fabs(rate - rates[i]) < 0.01)
                        return (uint64_t) (rates[i] * 1e9);
        return ALD_ABSENT_UINT64;
}

/* Parses the number of lanes; absent if implausible. A link that is down has a width of 0; a device that is
 * off reads as ones, which leaves 63 or 255. */
static uint64_t parse_lanes(const char *text)
{
        char *end;
        guint64 lanes = g_ascii_isdigit(*text) ? g_ascii_strtoull(text, &end, 10) : 0;

        return lanes > 0 && lanes <= LANES_MAX && *end == '\0' ? lanes : ALD_ABSENT_UINT64;
}

static bool is_root_complex(const char *name)
{
        return g_str_has_prefix(name, "pci") && strchr(name, ':');
}

/* Returns the names from the last root complex on, or NULL if there is none. A root complex after another one
 * belongs to a VMD. */
static char **find_route(char **names)
{
        char **complex = NULL;

        for (; *names; names++)
                if (is_root_complex(*names))
                        complex = names;
        if (!complex || !complex[1] || g_strv_length(complex + 1) > HOPS_MAX)
                return NULL;
        for (char **hop = complex + 1; *hop; hop++)
                if (!ald_gpu_is_pci_address(*hop))
                        return NULL;
        return complex;
}

static bool narrows_idle_link(const char *driver)
{
        static const char *const drivers[] = { "amdgpu", "nvidia", "radeon", NULL };

        return driver && g_strv_contains(drivers, driver);
}

AldGpuPcie *ald_gpu_pcie_new(int root, const char *address, const char *driver)
{
        g_autofree char *link = g_strdup_printf(DEVICES "/%s", address), *target = NULL;
        g_auto(GStrv) names = NULL;
        AldGpuPcie *pcie;
        char **route;

        if (!ald_gpu_is_pci_address(address) || ald_sysroot_link_target(root, link, &target) < 0)
                return NULL;
        names = g_strsplit(target, "/", -1);
        route = find_route(names);
        if (!route)
                return NULL;
        pcie = g_new0(AldGpuPcie, 1);
        pcie->root = root;
        pcie->complex = g_strdup(route[0]);
        pcie->hops = g_strdupv(route + 1);
        pcie->narrows = narrows_idle_link(driver);
        return pcie;
}

void ald_gpu_pcie_free(AldGpuPcie *pcie)
{
        if (!pcie)
                return;
        for (guint i = 0; i < pcie->n_links; i++) {
                ald_kept_file_clear(&pcie->links[i].width);
                ald_kept_file_clear(&pcie->links[i].speed);
        }
        g_free(pcie->links);
        g_free(pcie->complex);
        g_strfreev(pcie->hops);
        g_free(pcie);
}

bool ald_gpu_pcie_same(const AldGpuPcie *a, const AldGpuPcie *b)
{
        if (!a || !b)
                return a == b;
        return g_str_equal(a->complex, b->complex) && a->narrows == b->narrows &&
               g_strv_equal((const char *const *) a->hops, (const char *const *) b->hops);
}

/* Returns whether a text is a number or "Unknown", which the kernel writes for an unknown value. */
static bool is_readable(const char *text)
{
        return g_ascii_isdigit(*text) || g_str_has_prefix(text, "Unknown");
}

static char *read_text(const AldGpuPcie *pcie, const char *hop, const char *name)
{
        g_autofree char *path = g_strdup_printf(DEVICES "/%s/%s", hop, name);
        char *text = NULL;
        int r = ald_sysroot_read_string(pcie->root, path, &text);

        if (r < 0 && r != -ENOENT)
                g_warning("Cannot read %s: %s", path, g_strerror(-r));
        return text;
}

static uint64_t read_most(
        const AldGpuPcie *pcie, const char *hop, const char *name, uint64_t (*parse)(const char *text))
{
        g_autofree char *text = read_text(pcie, hop, name);

        if (!text)
                return ALD_ABSENT_UINT64;
        if (!is_readable(text))
                g_warning("Cannot read " DEVICES "/%s/%s: it holds no number", hop, name);
        return parse(text);
}

static uint64_t read_lanes(const AldGpuPcie *pcie, const char *hop)
{
        return read_most(pcie, hop, "max_link_width", parse_lanes);
}

/* Returns the rate that both ends support; absent if one is unknown, as in a virtual machine that shows no
 * port. */
static uint64_t read_rate(const AldGpuPcie *pcie, const char *port, const char *end)
{
        uint64_t below, above;

        if (!port)
                return ALD_ABSENT_UINT64;
        below = read_most(pcie, end, "max_link_speed", ald_gpu_pcie_parse_rate);
        above = read_most(pcie, port, "max_link_speed", ald_gpu_pcie_parse_rate);
        return below == ALD_ABSENT_UINT64 || above == ALD_ABSENT_UINT64 ? ALD_ABSENT_UINT64
                                                                        : MIN(below, above);
}

/* Returns the width that both ends can use; absent if one is unknown. */
static uint64_t full_width(const Link *link)
{
        if (link->lanes_max == ALD_ABSENT_UINT64 || !link->has_port)
                return link->lanes_max;
        return link->slot_lanes == ALD_ABSENT_UINT64 ? ALD_ABSENT_UINT64
                                                     : MIN(link->lanes_max, link->slot_lanes);
}

static void init_file(const AldGpuPcie *pcie, AldKeptFile *file, const char *hop, const char *name)
{
        g_autofree char *path = g_strdup_printf(DEVICES "/%s/%s", hop, name);

        ald_kept_file_init(file, pcie->root, path);
}

/* Adds a link; `port` may be NULL. */
static void add_link(AldGpuPcie *pcie, const char *port, const char *end)
{
        Link *link = &pcie->links[pcie->n_links++];

        *link = (Link){
                .has_port = port != NULL,
                .lanes_max = read_lanes(pcie, end),
                .slot_lanes = port ? read_lanes(pcie, port) : ALD_ABSENT_UINT64,
                .rate_max = read_rate(pcie, port, end),
                .lanes = SEEN_NOTHING,
                .rate = SEEN_NOTHING,
        };
        init_file(pcie, &link->width, end, "current_link_width");
        init_file(pcie, &link->speed, end, "current_link_speed");
}

static bool has_link(const AldGpuPcie *pcie, const char *hop)
{
        g_autofree char *path = g_strdup_printf(DEVICES "/%s/max_link_width", hop);

        return ald_sysroot_exists(pcie->root, path);
}

/* Returns whether the device is connected by Thunderbolt. Ports then show the least that PCI Express knows,
 * whatever the tunnel carries. */
static bool is_tunnelled(const AldGpuPcie *pcie)
{
        g_autofree char *text = read_text(pcie, pcie->hops[g_strv_length(pcie->hops) - 1], "removable");

        return g_strcmp0(text, "removable") == 0;
}

/* Adds the links of the route. Every other hop is the lower end of a link: the device, and the upper port of
 * each switch. A device without a port above is in a virtual machine, or integrated. */
static void find_links(AldGpuPcie *pcie)
{
        guint n = g_strv_length(pcie->hops);

        pcie->links = g_new0(Link, n / 2 + 1);
        if (is_tunnelled(pcie))
                return;
        if (n == 1 && has_link(pcie, pcie->hops[0]) && read_lanes(pcie, pcie->hops[0]) != ALD_ABSENT_UINT64)
                add_link(pcie, NULL, pcie->hops[0]);
        for (guint i = n % 2; i + 1 < n; i += 2)
                if (has_link(pcie, pcie->hops[i + 1]))
                        add_link(pcie, pcie->hops[i], pcie->hops[i + 1]);
}

/* Returns the greater of the known values, or absent. */
static uint64_t most_seen(const Seen *seen)
{
        if (seen->recent == ALD_ABSENT_UINT64 || seen->before == ALD_ABSENT_UINT64)
                return MIN(seen->recent, seen->before);
        return MAX(seen->recent, seen->before);
}

/* Records a value; a link that got worse shows after one or two periods. A value above `most` is not
 * plausible. Returns whether most_seen() has changed. */
static bool record_seen(Seen *seen, uint64_t value, uint64_t most)
{
        uint64_t known = most_seen(seen);

        if (value == ALD_ABSENT_UINT64 || most == ALD_ABSENT_UINT64 || value > most)
                return false;
        if (seen->readings++ == READINGS)
                *seen = (Seen){ value, seen->recent, 1 };
        else if (seen->recent == ALD_ABSENT_UINT64 || value > seen->recent)
                seen->recent = value;
        return most_seen(seen) != known;
}

/* Returns the present value of a file, or absent. */
static uint64_t read_current(AldKeptFile *file, uint64_t (*parse)(const char *text))
{
        char text[TEXT_MAX];

        if (ald_kept_file_read(file, text, sizeof text) < 0)
                return ALD_ABSENT_UINT64;
        g_strstrip(text);
        if (!is_readable(text))
                ald_kept_file_warn(file, -EBADMSG);
        return parse(text);
}

/* Records the current width. If `counts` is false, the link may be narrowed, so only the full width
 * counts. */
static bool sample_width(Link *link, bool counts)
{
        uint64_t full = full_width(link), lanes = read_current(&link->width, parse_lanes);

        return (counts || lanes == full) && record_seen(&link->lanes, lanes, full);
}

/* Reads the capabilities of the links, and their widths if the driver does not narrow them. A link of full
 * width is not narrowed, whether the device is idle or not. Returns whether there are links. */
static bool read_links(AldGpuPcie *pcie)
{
        pcie->known = true;
        find_links(pcie);
        for (guint i = 0; i < pcie->n_links; i++)
                (void) sample_width(&pcie->links[i], !pcie->narrows);
        return pcie->n_links > 0;
}

/* Returns whether the links are to be read now, which is whenever the device was in use for
 * ALD_GPU_PCIE_USE_USEC in a row. */
static bool is_due(AldGpuPcie *pcie, double usage, int64_t now_usec)
{
        if (!(usage >= ALD_GPU_PCIE_USAGE)) {
                pcie->busy_since = 0;
                return false;
        }
        if (pcie->busy_since == 0)
                pcie->busy_since = now_usec;
        if (now_usec - pcie->busy_since < ALD_GPU_PCIE_USE_USEC)
                return false;
        pcie->busy_since = now_usec;
        return true;
}

bool ald_gpu_pcie_sample(AldGpuPcie *pcie, bool may_read, double usage, int64_t now_usec)
{
        bool changed = false;

        if (!may_read) {
                pcie->busy_since = 0;
                return false;
        }
        if (!pcie->known)
                changed = read_links(pcie);
        if (!is_due(pcie, usage, now_usec))
                return changed;
        for (guint i = 0; i < pcie->n_links; i++) {
                Link *link = &pcie->links[i];
                uint64_t rate;

                changed = sample_width(link, true) || changed;
                rate = read_current(&link->speed, ald_gpu_pcie_parse_rate);
                changed = record_seen(&link->rate, rate, link->rate_max) || changed;
        }
        return changed;
}

/* Returns the bits per second that the link carries over this number of lanes; 0 if unknown. */
static uint64_t capacity(const Link *link, uint64_t lanes)
{
        if (lanes == ALD_ABSENT_UINT64 || link->rate_max == ALD_ABSENT_UINT64)
                return 0;
        return ald_gpu_pcie_bandwidth(lanes, link->rate_max);
}

/* Returns the slowest link. Among equal ones it is the one nearest to the host, since the link within a card
 * is never the limit. A link of unknown capacity counts as the slowest. */
static const Link *find_slowest(const AldGpuPcie *pcie)
{
        const Link *slowest = NULL;
        uint64_t least = UINT64_MAX;

        for (guint i = 0; i < pcie->n_links; i++) {
                const Link *link = &pcie->links[i];
                uint64_t here = capacity(link, MIN(most_seen(&link->lanes), full_width(link)));

                if (slowest && here >= least)
                        continue;
                slowest = link;
                least = here;
        }
        return slowest;
}

bool ald_gpu_pcie_to_host(const AldGpuPcie *pcie, AldDeviceJoin *row)
{
        const Link *link = find_slowest(pcie);
        uint64_t bandwidth;

        if (!link)
                return false;
        bandwidth = capacity(link, full_width(link));
        row->bits_per_second = bandwidth > 0 ? bandwidth : ALD_ABSENT_UINT64;
        row->lanes = most_seen(&link->lanes);
        row->lanes_max = link->lanes_max;
        row->slot_lanes = link->slot_lanes;
        row->transfers_per_second = most_seen(&link->rate);
        row->transfers_per_second_max = link->rate_max;
        return true;
}

AldGpuPcieCommon ald_gpu_pcie_common(const AldGpuPcie *a, const AldGpuPcie *b)
{
        guint n = 0;

        if (!g_str_equal(a->complex, b->complex))
                return ALD_GPU_PCIE_APART;
        while (a->hops[n] && b->hops[n] && g_str_equal(a->hops[n], b->hops[n]))
                n++;
        if (n == 0)
                return ALD_GPU_PCIE_ROOT;
        /* The last common hop is either a port that leads down, or the upper port of a switch, as in
         * find_links(). */
        return (n - 1) % 2 == g_strv_length(a->hops) % 2 ? ALD_GPU_PCIE_PORT : ALD_GPU_PCIE_SWITCH;
}
