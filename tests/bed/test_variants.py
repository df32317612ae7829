# SPDX-License-Identifier: LGPL-2.1-or-later
"""bedlib.variants against GLib's own GVariant."""

import math
import random
import struct

import pytest
from gi.repository import GLib

from bedlib.variants import Typed, pack, split, unpack

BITS = {"y": 8, "n": 16, "q": 16, "i": 32, "u": 32, "x": 64, "t": 64}
SIGNED = "nix"


def any_type(chance, depth=0):
    kind = chance.random() + depth / 10
    if kind < 0.2:
        return f"a{any_type(chance, depth + 1)}"
    if kind < 0.4:
        return f"({''.join(any_type(chance, depth + 1) for _ in range(chance.randint(1, 4)))})"
    if kind < 0.5:
        return f"a{{{chance.choice('styx')}{any_type(chance, depth + 1)}}}"
    return chance.choice("ybnqiuxtdsogv" if depth < 3 else "ybnqiuxtdsog")


def any_value(chance, signature):
    kind = signature[0]
    if kind in BITS:
        least = -2 ** (BITS[kind] - 1) if kind in SIGNED else 0
        return chance.choice([least, least + 2 ** BITS[kind] - 1, chance.randint(0, 100)])
    if kind in "bd":
        return {"b": chance.random() < 0.5, "d": chance.random() * 1e9}[kind]
    if kind in "sog":
        text = "é€ x"[:chance.randint(0, 4)] * chance.choice([1, 1, 1, 90, 20000])
        return {"s": text, "o": "/a/b", "g": "a{sv}"}[kind]
    if kind == "v":
        inner = any_type(chance, 2)
        return Typed(inner, any_value(chance, inner))
    if signature.startswith("a{"):
        return {any_value(chance, signature[2]): any_value(chance, signature[3:-1])
                for _ in range(chance.randint(0, 3))}
    if kind == "a":
        return [any_value(chance, signature[1:]) for _ in range(chance.randint(0, 3))]
    return tuple(any_value(chance, part) for part in split(signature[1:-1]))


def for_glib(signature, value):
    if signature == "v":
        return GLib.Variant(value.signature, for_glib(value.signature, value.value))
    if signature.startswith("a{"):
        return {key: for_glib(signature[3:-1], item) for key, item in value.items()}
    if signature[0] == "a":
        return [for_glib(signature[1:], item) for item in value]
    if signature[0] == "(":
        return tuple(map(for_glib, split(signature[1:-1]), value))
    return value


def test_as_glib_has_them():
    chance = random.Random(1)
    for _ in range(1000):
        signature = f"({''.join(any_type(chance) for _ in range(chance.randint(0, 4)))})"
        value = any_value(chance, signature)
        expected, packed = GLib.Variant(signature, for_glib(signature, value)), pack(signature, value)
        assert packed.is_normal_form() and packed.equal(expected), (signature, value)
        assert unpack(packed) == unpack(expected) == expected.unpack(), (signature, value)


def test_what_does_not_fit_is_refused():
    for signature, value in (("(u)", (-1,)), ("(su)", ("x",)), ("(s)", (1,)), ("(*)", (1,)), ("(s)", ("a\0b",)),
                             ("(o)", ("a",)), ("(g)", ("zz",)), ("(as)", ("ab",)), ("(as)", ({"a": 1},)),
                             ("(ss)", "ab"),
                             ("((ss))", (Typed("s", "x"),)), ("(v)", (Typed("(s", ()),)), ("(v)", ("x",))):
        with pytest.raises((TypeError, ValueError, AttributeError, struct.error)):
            pack(signature, value)


@pytest.mark.parametrize("length", [*range(240, 260), *range(65515, 65545)])
def test_sizes_at_which_offsets_grow(length):
    for signature, value in (("(ss)", ("x" * length, "y")), ("(as)", (["x" * length, "y"],)), ("(a{sv})", (
            {"x" * length: Typed("s", "y")},)), ("(sas)", ("z", ["x" * (length // 2)] * 2))):
        assert pack(signature, value).equal(GLib.Variant(signature, for_glib(signature, value)))


def test_no_number_stays_none():
    assert math.isnan(unpack(pack("(d)", (math.nan,)))[0])
