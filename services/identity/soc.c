/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "services/common/text.h"
#include "services/identity/soc.h"

typedef struct Soc {
        const char *id;
        const char *name;
} Soc;

static const Soc by_compatible[] = {
        { "apple,t6000", "Apple M1 Pro" },
        { "apple,t6001", "Apple M1 Max" },
        { "apple,t6002", "Apple M1 Ultra" },
        { "apple,t6020", "Apple M2 Pro" },
        { "apple,t6021", "Apple M2 Max" },
        { "apple,t6022", "Apple M2 Ultra" },
        { "apple,t8103", "Apple M1" },
        { "apple,t8112", "Apple M2" },
        { "brcm,bcm2711", "Broadcom BCM2711" },
        { "brcm,bcm2712", "Broadcom BCM2712" },
        { "brcm,bcm2837", "Broadcom BCM2837" },
        { "nvidia,tegra186", "NVIDIA Tegra X2" },
        { "nvidia,tegra194", "NVIDIA Xavier" },
        { "nvidia,tegra210", "NVIDIA Tegra X1" },
        { "nvidia,tegra234", "NVIDIA Orin" },
        { "nvidia,tegra264", "NVIDIA Thor" },
        { "qcom,sc8280xp", "Qualcomm SC8280XP" },
        { "qcom,x1e80100", "Qualcomm X1E80100" },
        { "rockchip,rk3399", "Rockchip RK3399" },
        { "rockchip,rk3566", "Rockchip RK3566" },
        { "rockchip,rk3568", "Rockchip RK3568" },
        { "rockchip,rk3576", "Rockchip RK3576" },
        { "rockchip,rk3588", "Rockchip RK3588" },
        { "rockchip,rk3588s", "Rockchip RK3588S" },
        { "sophgo,sg2042", "SOPHGO SG2042" },
        { "spacemit,k1", "SpacemiT K1" },
        { "starfive,jh7110", "StarFive JH7110" },
        { "thead,th1520", "T-Head TH1520" },
};

/* JEP-106 code of the maker and number of the chip, by SMCCC_ARCH_SOC_ID. */
static const Soc by_firmware[] = {
        { "jep106:036b:0241", "NVIDIA Grace" },
};

static const char *find(const Soc *socs, size_t n, const char *id)
{
        for (size_t i = 0; i < n; i++)
                if (g_str_equal(socs[i].id, id))
                        return socs[i].name;
        return NULL;
}

const char *ald_soc_name(int root, const char *const *compatible)
{
        g_autofree char *id = NULL;

        for (; *compatible; compatible++) {
                const char *name = find(by_compatible, G_N_ELEMENTS(by_compatible), *compatible);

                if (name)
                        return name;
        }
        id = ald_text_read(root, "sys/devices/soc0/soc_id");
        return id ? find(by_firmware, G_N_ELEMENTS(by_firmware), id) : NULL;
}
