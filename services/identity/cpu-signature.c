/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/identity/cpu-signature.h"

#if defined(__i386__) || defined(__x86_64__)
#include <cpuid.h>

#define HYPERVISOR_BIT (1u << 31)

void ald_cpu_signature(char ret[static ALD_CPU_SIGNATURE_SIZE])
{
        unsigned eax, signature[3];

        memset(ret, 0, ALD_CPU_SIGNATURE_SIZE);
        if (!__get_cpuid(1, &eax, &signature[0], &signature[1], &signature[2]) ||
                !(signature[1] & HYPERVISOR_BIT))
                return;
        __cpuid(0x40000000u, eax, signature[0], signature[1], signature[2]);
        memcpy(ret, signature, sizeof signature);
}
#else
void ald_cpu_signature(char ret[static ALD_CPU_SIGNATURE_SIZE])
{
        memset(ret, 0, ALD_CPU_SIGNATURE_SIZE);
}
#endif
