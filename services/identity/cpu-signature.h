/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#define ALD_CPU_SIGNATURE_SIZE 13u

/* The name that a hypervisor gives itself in CPUID leaf 0x40000000: KVMKVMKVM. Empty where there is none, and
 * on everything but x86. */
void ald_cpu_signature(char ret[static ALD_CPU_SIGNATURE_SIZE]);
