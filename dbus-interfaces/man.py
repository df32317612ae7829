#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the man page of an interface out of its XML and that of all records: man.py OUTPUT INTERFACE XML RECORD…"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import schema  # noqa: E402

ABSENT = """Unknown values are omitted, never 0: from the maps of
.BR org.alidade.State1 (5),
from GetManagedObjects() and InterfacesAdded, from rows, from JSON and from the screen.
Get(), GetAll() and PropertiesChanged cannot omit a property; there an unknown
.B t
is 18446744073709551615, an unknown
.B x
is \\-9223372036854775808, an unknown
.B d
is NaN, and an unknown
.B s
or
.B as
is empty.
"""
RECEIVERS = {"nobody": "It never leaves the machine.",
             "mirrors": "It is sent to the nodes that mirror others; see\n.BR alidade.conf (5).",
             "peers": "It is sent to the nodes that mirror others, and to those that measure links with its node; see\n"
                      ".BR alidade.conf (5)."}
EMITS = {"true": "read only", "false": "read only, without change signals", "const": "constant"}
TYPES = {"s": "string", "t": "unsigned integer", "x": "integer", "d": "floating point", "b": "boolean",
         "as": "strings", schema.NUMBERS: "unsigned integers by name"}
PARAGRAPH = re.compile(r"\n\s*\n")


def text(words):
    """Words as roff: nothing in them is taken for a request or an escape."""
    words = " ".join(words.split()).replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + words if words[:1] in ("'", ".") else words


def paragraphs(doc, indented=False):
    """One roff paragraph for each of the comment's."""
    between = ".IP\n" if indented else ".PP\n"
    return between.join(text(part) + "\n" for part in PARAGRAPH.split(doc.strip()))


def split_arguments(doc):
    """Takes the "@Name: what it is" out of a method's documentation: (what remains, {name: what it is})."""
    remains, arguments = [], {}
    for part in PARAGRAPH.split(doc.strip()):
        head, *found = re.split(r"(?:^|(?<=\s))@(\w+):", part)
        remains.append(head)
        for name, words in zip(found[::2], found[1::2]):
            arguments[name] = words.strip()
    return "\n\n".join(part for part in remains if part.strip()), arguments


def split_errors(doc):
    """(what remains, the paragraph that begins with "Errors:", or "")."""
    parts = PARAGRAPH.split(doc.strip())
    errors = [part for part in parts if part.startswith("Errors:")]
    return "\n\n".join(part for part in parts if part not in errors), "".join(errors)[len("Errors:"):]


def quantity(number, unit):
    return " ".join(filter(None, (f"{number!r}".removesuffix(".0"), unit)))


def field_facts(field):
    """The line under a field: its unit, its values, when a change is sent."""
    facts = []
    if field.unit:
        facts.append(f"Unit: {field.unit}.")
    if field.enum:
        words = ", ".join(f'"{value}"' for value in field.enum)
        facts.append(f"{'Some' if field.type == 'as' else 'One'} of {words}.")
    if field.threshold:
        amount = (f"{field.threshold * 100:g} % of the value sent before" if field.relative
                  else quantity(field.threshold, field.unit))
        if field.threshold_min:
            amount += f" (at least {quantity(field.threshold_min, field.unit)})"
        if field.threshold_max:
            amount += f" (at most {quantity(field.threshold_max, field.unit)})"
        facts.append(f"Changes below {amount} are sent later.")
    if field.required:
        facts.append("Required.")
    if field.default:
        booleans = {"0": "false", "1": "true"} if field.type == "b" else {}
        facts.append(f"Default: {booleans.get(field.default, field.default)}.")
    if field.type == "aa{sv}" and field.maximum is not None:
        facts.append(f"At most {field.maximum:.17g} rows; further ones are dropped on receipt.")
    if field.type in ("t", "x", "d") and field.minimum is not None and field.maximum is not None:
        facts.append(f"From {field.minimum:.17g} to {field.maximum:.17g}.")
    return " ".join(facts)


def field_entry(field, type_name):
    out = [f".TP\n.BR {text(field.name)} \" ({type_name})\"\n{paragraphs(field.doc, True)}"]
    facts = field_facts(field)
    if facts:
        out.append(f".br\n{text(facts)}\n")
    return "".join(out)


def record_fields(interface):
    out = [".SH FIELDS\n"]
    for field in interface.fields:
        out.append(field_entry(field, "rows" if field.row else TYPES[field.type]))
    for name in schema.ENVELOPE:
        doc = next(member.doc for member in interface.members if member.name == name)
        out.append(f".TP\n.BR {name} \" (unsigned integer)\"\n{paragraphs(doc, True)}")
    for field in interface.fields:
        if field.row:
            out.append(f".SS Rows of {text(field.name)}\nEach row is an a{{sv}} and has an Id of its own.\n")
            out += [field_entry(sub, TYPES[sub.type]) for sub in field.row_fields]
    return "".join(out)


def property_entry(member):
    facts = f"{member.element.get('type')}, {EMITS[member.emits_change]}"
    return f".TP\n.BR {text(member.name)} \" ({facts})\"\n{paragraphs(member.doc, True)}{rows_entry(member.rows)}"


def rows_entry(rows):
    return "".join(".RS\n" + "".join(field_entry(sub, TYPES[sub.type]) for sub in field.row_fields) + ".RE\n"
                   for field in rows)


def member_entry(member):
    """A method, signal or property of a service interface."""
    element = member.element
    if element.tag == "property":
        return property_entry(member)
    doc, words = split_arguments(member.doc)
    doc, errors = split_errors(doc)
    arguments = element.findall("arg")
    prototype = ", ".join(" ".join(filter(None, (a.get("direction"), a.get("type"), a.get("name"))))
                          for a in arguments)
    out = [f".SS {text(member.name)}({text(prototype)})\n{paragraphs(doc)}"]
    for argument in arguments:
        name = argument.get("name")
        if words.get(name):
            out.append(f".TP\n.I {text(name)}\n{text(words[name])}\n")
        out.append(rows_entry([rows for rows in member.rows if rows.name == name]))
    if errors:
        out.append(f".TP\n.B Errors\n{text(errors)}\n")
    return "".join(out)


def service_members(interface):
    out = []
    for tag, title in (("property", "PROPERTIES"), ("method", "METHODS"), ("signal", "SIGNALS")):
        members = [member for member in interface.members if member.element.tag == tag]
        if members:
            out += [f".SH {title}\n"] + [member_entry(member) for member in members]
    return "".join(out)


def summary(interface):
    """The first sentence, as whatis(1) shows it."""
    first = re.split(r"(?<=\.)\s", interface.doc.strip(), maxsplit=1)[0]
    if first[1:2].islower():
        first = first[0].lower() + first[1:]
    return text(first.rstrip("."))


def publication(record):
    """What the annotations of a record state."""
    out = [".SH SOURCE\n", f".BR {text(schema.PREFIX + record.source)} (5)\n"]
    if record.persistent:
        out.append(".PP\nThe state service keeps it across a restart.\n")
    out.append(".PP\n" + RECEIVERS[record.sent_to] + "\n")
    return "".join(out)


def record_list(service, records):
    """Those that a service provides."""
    found = [f".BR {text(record.name)} (5)" for record in records if record.source == service.kind]
    return ".SH RECORDS\n" + ",\n".join(found) + "\n" if found else ""


def page(interface, records=()):
    # For groff 1.23, whose paragraphs undo .nh and .ad, in HY and AD.
    out = ['.\\" SPDX-License-Identifier: LGPL-2.1-or-later\n.\\" Made by dbus-interfaces/man.py; edit the XML.\n',
           f'.TH {text(interface.name)} 5 "" Alidade "D\\-Bus interfaces"\n.nh\n.ad l\n.nr HY 0\n.ds AD l\n',
           f".SH NAME\n{text(interface.name)} \\- {summary(interface)}\n",
           f".SH DESCRIPTION\n{paragraphs(interface.doc)}"]
    if interface.is_record:
        out += [publication(interface), record_fields(interface), ".SH ABSENT VALUES\n", ABSENT]
    else:
        out += [service_members(interface), record_list(interface, records)]
    out.append(f".SH FILES\n.I /usr/share/dbus\\-1/interfaces/{text(interface.name)}.xml\n"
               ".SH SEE ALSO\n.BR alidade (7),\n" +
               (".BR org.alidade.State1 (5),\n" if interface.name != "org.alidade.State1" else "") +
               ".BR busctl (1)\n")
    return "".join(out)


def main(argv):
    if len(argv) < 4:
        sys.exit(__doc__)
    _, output, name, path, *record_paths = argv
    try:
        records = schema.load_all(record_paths)
        pages = [page(interface, records) for interface in schema.load(path) if interface.name == name]
    except schema.SchemaError as error:
        sys.exit(f"man.py: {error}")
    if not pages:
        sys.exit(f"man.py: {path}: there is no interface {name}")
    Path(output).write_text(pages[0], encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv)
