# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes C of kernels: NAME.cl becomes the string ald_kernel_NAME. Usage: embed.py SOURCE.c HEADER.h [KERNEL.cl…]"""

import sys
from pathlib import Path

LICENCE = "/* SPDX-License-Identifier: LGPL-2.1-or-later */\n"


def symbol(path):
    return "ald_kernel_" + path.stem.replace("-", "_")


def literal(line):
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?") + '\\n"'


def definition(path):
    # The licence is for readers of the source, as are comments between kernels; the compiler counts lines.
    lines = path.read_text(encoding="ascii").splitlines()
    return f"const char {symbol(path)}[] =\n" + "\n".join(literal(line) for line in lines) + ";\n"


def main(source, header, *kernels):
    paths = sorted(Path(kernel) for kernel in kernels)
    Path(header).write_text(LICENCE + "#pragma once\n\n" + "".join(
        f"extern const char {symbol(path)}[];\n" for path in paths), encoding="ascii")
    Path(source).write_text(LICENCE + f'#include "{header}"\n\n' + "\n".join(
        definition(path) for path in paths), encoding="ascii")


main(*sys.argv[1:])
