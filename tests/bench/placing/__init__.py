# SPDX-License-Identifier: LGPL-2.1-or-later
"""What plans are worth in llama.cpp and Open MPI, on hosts that are network namespaces of this machine."""
