/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glib.h>

#include "services/common/arm-cores.h"

/* Core numbers from MIDR_EL1 and the manuals of the cores. Bigger cores are listed before the smaller ones
 * that share a chip with them. */
static const struct {
        uint16_t implementer;
        uint16_t part;
        const char *name;
} cores[] = {
        { 0x41, 0xd84, "Neoverse-V3" },
        { 0x41, 0xd83, "Neoverse-V3AE" },
        { 0x41, 0xd4f, "Neoverse-V2" },
        { 0x41, 0xd40, "Neoverse-V1" },
        { 0x41, 0xd8e, "Neoverse-N3" },
        { 0x41, 0xd49, "Neoverse-N2" },
        { 0x41, 0xd0c, "Neoverse-N1" },
        { 0x41, 0xd4a, "Neoverse-E1" },
        { 0x41, 0xd8c, "C1-Ultra" },
        { 0x41, 0xd90, "C1-Premium" },
        { 0x41, 0xd85, "Cortex-X925" },
        { 0x41, 0xd82, "Cortex-X4" },
        { 0x41, 0xd4e, "Cortex-X3" },
        { 0x41, 0xd48, "Cortex-X2" },
        { 0x41, 0xd4c, "Cortex-X1C" },
        { 0x41, 0xd44, "Cortex-X1" },
        { 0x41, 0xd87, "Cortex-A725" },
        { 0x41, 0xd89, "Cortex-A720AE" },
        { 0x41, 0xd81, "Cortex-A720" },
        { 0x41, 0xd4d, "Cortex-A715" },
        { 0x41, 0xd47, "Cortex-A710" },
        { 0x41, 0xd4b, "Cortex-A78C" },
        { 0x41, 0xd42, "Cortex-A78AE" },
        { 0x41, 0xd41, "Cortex-A78" },
        { 0x41, 0xd0d, "Cortex-A77" },
        { 0x41, 0xd0e, "Cortex-A76AE" },
        { 0x41, 0xd0b, "Cortex-A76" },
        { 0x41, 0xd0a, "Cortex-A75" },
        { 0x41, 0xd09, "Cortex-A73" },
        { 0x41, 0xd08, "Cortex-A72" },
        { 0x41, 0xd07, "Cortex-A57" },
        { 0x41, 0xc0f, "Cortex-A15" },
        { 0x41, 0xc0e, "Cortex-A17" },
        { 0x41, 0xc0d, "Cortex-A12" },
        { 0x41, 0xd80, "Cortex-A520" },
        { 0x41, 0xd46, "Cortex-A510" },
        { 0x41, 0xd43, "Cortex-A65AE" },
        { 0x41, 0xd06, "Cortex-A65" },
        { 0x41, 0xd05, "Cortex-A55" },
        { 0x41, 0xd03, "Cortex-A53" },
        { 0x41, 0xd04, "Cortex-A35" },
        { 0x41, 0xc09, "Cortex-A9" },
        { 0x41, 0xc08, "Cortex-A8" },
        { 0x41, 0xc07, "Cortex-A7" },
        { 0x41, 0xc05, "Cortex-A5" },
        { 0x41, 0xb76, "ARM1176" },
        { 0x42, 0x516, "ThunderX2" },
        { 0x42, 0x100, "Brahma-B53" },
        { 0x43, 0x0b8, "ThunderX3" },
        { 0x43, 0x0af, "ThunderX2" },
        { 0x43, 0x0a1, "ThunderX" },
        { 0x43, 0x0b1, "OcteonTX2" },
        { 0x43, 0x0b2, "OcteonTX2" },
        { 0x46, 0x001, "A64FX" },
        { 0x48, 0xd02, "Kunpeng-920B" },
        { 0x48, 0xd01, "Kunpeng-920" },
        { 0x4e, 0x010, "Olympus" },
        { 0x4e, 0x004, "Carmel" },
        { 0x4e, 0x003, "Denver 2" },
        { 0x4e, 0x000, "Denver" },
        { 0x50, 0x000, "X-Gene" },
        { 0x51, 0x001, "Oryon" },
        { 0x51, 0xc00, "Falkor" },
        { 0x51, 0x804, "Kryo 4XX Gold" },
        { 0x51, 0x802, "Kryo 3XX Gold" },
        { 0x51, 0x805, "Kryo 4XX Silver" },
        { 0x51, 0x803, "Kryo 3XX Silver" },
        { 0x61, 0x033, "Avalanche" },
        { 0x61, 0x035, "Avalanche" },
        { 0x61, 0x039, "Avalanche" },
        { 0x61, 0x032, "Blizzard" },
        { 0x61, 0x034, "Blizzard" },
        { 0x61, 0x038, "Blizzard" },
        { 0x61, 0x023, "Firestorm" },
        { 0x61, 0x025, "Firestorm" },
        { 0x61, 0x029, "Firestorm" },
        { 0x61, 0x022, "Icestorm" },
        { 0x61, 0x024, "Icestorm" },
        { 0x61, 0x028, "Icestorm" },
        { 0x61, 0x000, "Apple silicon" }, /* shown by Apple's hypervisor for any of them */
        { 0x6d, 0xd49, "Azure Cobalt 100" },
        { 0x70, 0x663, "FTC663" },
        { 0x70, 0x662, "FTC662" },
        { 0xc0, 0xac5, "AmpereOne-B" },
        { 0xc0, 0xac4, "AmpereOne-A" },
        { 0xc0, 0xac3, "AmpereOne" },
};

static const struct {
        uint16_t id;
        const char *name;
} implementers[] = {
        { 0x41, "Arm" },
        { 0x42, "Broadcom" },
        { 0x43, "Cavium" },
        { 0x46, "Fujitsu" },
        { 0x48, "HiSilicon" },
        { 0x4e, "NVIDIA" },
        { 0x50, "APM" },
        { 0x51, "Qualcomm" },
        { 0x53, "Samsung" },
        { 0x56, "Marvell" },
        { 0x61, "Apple" },
        { 0x69, "Intel" },
        { 0x6d, "Microsoft" },
        { 0x70, "Phytium" },
        { 0xc0, "Ampere" },
};

unsigned ald_arm_core_rank(AldArmCore core)
{
        unsigned i = 0;

        while (i < G_N_ELEMENTS(cores) &&
                (cores[i].implementer != core.implementer || cores[i].part != core.part))
                i++;
        return i;
}

const char *ald_arm_implementer_name(unsigned implementer)
{
        for (size_t i = 0; i < G_N_ELEMENTS(implementers); i++)
                if (implementers[i].id == implementer)
                        return implementers[i].name;
        return NULL;
}

char *ald_arm_core_name(AldArmCore core)
{
        const char *implementer = ald_arm_implementer_name(core.implementer);
        unsigned rank = ald_arm_core_rank(core);

        if (rank < G_N_ELEMENTS(cores))
                return g_strdup(cores[rank].name);
        if (implementer)
                return g_strdup_printf("%s part 0x%03x", implementer, core.part);
        return g_strdup_printf("implementer 0x%02x part 0x%03x", core.implementer, core.part);
}
