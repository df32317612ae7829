#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A rank that takes part in all-reduces of Open MPI 4: mpi-all-reduce.py BYTES TIMES

Writes its rank, its host, and the seconds of each but the first. It takes the library as it is, without headers.
"""

import ctypes
import os
import socket
import sys
import time

FLOAT_BYTES = 4


def main():
    size, times = map(int, sys.argv[1:])
    mpi = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
    world, real, total = (ctypes.byref(ctypes.c_char.in_dll(mpi, name))
                          for name in ("ompi_mpi_comm_world", "ompi_mpi_float", "ompi_mpi_op_sum"))
    if mpi.MPI_Init(None, None) != 0:
        sys.exit("MPI_Init has failed")
    rank, ranks = ctypes.c_int(), ctypes.c_int()
    mpi.MPI_Comm_rank(world, ctypes.byref(rank))
    mpi.MPI_Comm_size(world, ctypes.byref(ranks))
    count = size // FLOAT_BYTES
    given = (ctypes.c_float * count)(*[rank.value + 1] * count)
    found = (ctypes.c_float * count)()
    seconds = []
    for _ in range(times + 1):
        mpi.MPI_Barrier(world)
        begin = time.monotonic()
        mpi.MPI_Allreduce(given, found, count, real, total, world)
        seconds.append(time.monotonic() - begin)
    expected = ranks.value * (ranks.value + 1) / 2
    if found[0] != expected or found[count - 1] != expected:
        sys.exit("the sum is wrong")
    # In one piece, as what the ranks write is merged.
    line = " ".join(map(str, ("rank", rank.value, socket.gethostname(), *seconds[1:])))
    os.write(sys.stdout.fileno(), f"{line}\n".encode())
    mpi.MPI_Finalize()


if __name__ == "__main__":
    main()
