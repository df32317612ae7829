/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#define ALD_CPU_SIGNATURE_SIZE 13u

/* The hypervisor signature in CPUID leaf 0x40000000, such as KVMKVMKVM. Empty if there is none, and on
 * architectures other than x86. */
void ald_cpu_signature(char ret[static ALD_CPU_SIGNATURE_SIZE]);
