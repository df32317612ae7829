# SPDX-License-Identifier: LGPL-2.1-or-later
"""GVariants from and to Python's own types, in a fifth of the time of GLib.Variant() and .unpack().

PyGObject creates an object for each value, which took a tenth of the time of the tests on the bus. The format is that
of GVariant's specification; test_variants.py compares the two.

A value of type v is a GLib.Variant or a Typed, and is read as what is in it.
"""

import functools
import struct
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

from gi.repository import GLib


@dataclass(frozen=True)
class Typed:
    signature: str
    value: Any


FIXED = {"y": "B", "b": "?", "n": "h", "q": "H", "i": "i", "u": "I", "h": "i", "x": "q", "t": "Q", "d": "d"}
# By the size of a framing offset.
OFFSETS = {1: "B", 2: "H", 4: "I", 8: "Q"}

# read(data, start, end) gives the value there, and write(value, out) appends it; size is 0 if it varies.
Codec = namedtuple("Codec", "alignment size read write")


def offset_size(size):
    return 1 if size <= 0xff else 2 if size <= 0xffff else 4 if size <= 0xffffffff else 8


def pad(out, alignment):
    out += bytes(-len(out) % alignment)


def append_offsets(out, start, offsets):
    """Where the parts of a container end: with offsets as large as its size needs then."""
    size = len(out) - start
    wide = next(wide for wide in OFFSETS if offset_size(size + len(offsets) * wide) <= wide)
    out += struct.pack(f"<{len(offsets)}{OFFSETS[wide]}", *offsets)


def split(signature):
    """The single types of which this is a sequence."""
    parts, start = [], 0
    while start < len(signature):
        end = start
        while signature[end] == "a":
            end += 1
        if signature[end] in "({":
            depth = 0
            while True:
                depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(signature[end], 0)
                if depth == 0:
                    break
                end += 1
        parts.append(signature[start:end + 1])
        start = end + 1
    return parts


def fixed(letter):
    packer = struct.Struct(f"={letter}")

    def write(value, out):
        pad(out, packer.size)
        out += packer.pack(value)

    return Codec(packer.size, packer.size, lambda data, start, _end: packer.unpack_from(data, start)[0], write)


def read_string(data, start, end):
    return data[start:end - 1].decode()


def string(is_valid):
    def write(value, out):
        if "\0" in value or not is_valid(value):
            raise ValueError(f"not allowed: {value!r}")
        out += value.encode()
        out.append(0)

    return Codec(1, 0, read_string, write)


STRINGS = {"s": string(lambda _: True), "o": string(GLib.Variant.is_object_path),
           "g": string(GLib.Variant.is_signature)}


def refuse(value, *kinds):
    """These can be walked through as well, but are something else."""
    if isinstance(value, kinds):
        raise TypeError(f"of another type: {value!r}")


def read_variant(data, start, end):
    zero = data.rindex(0, start, end)
    return codec(data[zero + 1:end].decode()).read(data, start, zero)


def write_variant(value, out):
    pad(out, 8)
    if isinstance(value, Typed):
        signature = checked_signature(value.signature)
        codec(signature).write(value.value, out)
    else:
        signature = value.get_type_string()
        out += value.get_data_as_bytes().get_data() or b""
    out.append(0)
    out += signature.encode()


def array(element):
    alignment, size, read_one, write_one = codec(element)

    def read_fixed(data, start, end):
        return [read_one(data, place, place + size) for place in range(start, end, size)]

    def read_varying(data, start, end):
        if start == end:
            return []
        wide = offset_size(end - start)
        last = int.from_bytes(data[end - wide:end], "little")
        ends = struct.unpack_from(f"<{(end - start - last) // wide}{OFFSETS[wide]}", data, start + last)
        values, place = [], start
        for offset in ends:
            place += -place % alignment
            values.append(read_one(data, place, start + offset))
            place = start + offset
        return values

    def write(values, out):
        refuse(values, str, dict)
        pad(out, alignment)
        start, ends = len(out), []
        for value in values:
            write_one(value, out)
            ends.append(len(out) - start)
        if not size and ends:
            append_offsets(out, start, ends)

    return Codec(alignment, 0, read_fixed if size else read_varying, write)


def dictionary(entry):
    items = array(entry)
    return Codec(items.alignment, 0, lambda data, start, end: dict(items.read(data, start, end)),
                 lambda value, out: items.write(list(value.items()), out))


def structure(members):
    codecs = [codec(member) for member in members]
    alignment = max((member.alignment for member in codecs), default=1)
    size = 0
    if all(member.size for member in codecs):
        for member in codecs:
            size += -size % member.alignment + member.size
        size = max(1, size + -size % alignment)
    last = len(codecs) - 1

    def read(data, start, end):
        wide = offset_size(end - start)
        values, place, offset_at = [], start, end
        for number, member in enumerate(codecs):
            place += -place % member.alignment
            if member.size:
                until = place + member.size
            elif number == last:
                until = offset_at
            else:
                offset_at -= wide
                until = start + int.from_bytes(data[offset_at:offset_at + wide], "little")
            values.append(member.read(data, place, until))
            place = until
        return tuple(values)

    def write(values, out):
        refuse(values, str, dict, set)
        pad(out, alignment)
        start, ends = len(out), []
        for number, (member, value) in enumerate(zip(codecs, values, strict=True)):
            member.write(value, out)
            if not member.size and number != last:
                ends.append(len(out) - start)
        if size:
            out += bytes(size - (len(out) - start))
        elif ends:
            append_offsets(out, start, ends[::-1])

    return Codec(alignment, size, read, write)


@functools.cache
def checked_signature(signature):
    """Of one complete type."""
    if not GLib.VariantType.string_is_valid(signature):
        raise TypeError(f"no type of D-Bus: {signature}")
    return signature


@functools.cache
def codec(signature):
    kind = signature[0]
    if kind in FIXED and len(signature) == 1:
        return fixed(FIXED[kind])
    if signature in STRINGS:
        return STRINGS[signature]
    if signature == "v":
        return Codec(8, 0, read_variant, write_variant)
    if kind == "a":
        return dictionary(signature[1:]) if signature[1] == "{" else array(signature[1:])
    if kind in "({":
        return structure(split(signature[1:-1]))
    raise TypeError(f"no type of D-Bus: {signature}")


def unpack(variant):
    """As GLib.Variant.unpack()."""
    data = variant.get_data_as_bytes().get_data() or b""
    return codec(variant.get_type_string()).read(data, 0, len(data))


def pack(signature, value):
    """As GLib.Variant(signature, value)."""
    out = bytearray()
    codec(checked_signature(signature)).write(value, out)
    return GLib.Variant.new_from_bytes(GLib.VariantType(signature), GLib.Bytes(bytes(out)), True)
