#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes C out of the interfaces: generate.py schema-h|schema-c|docs-c|vtables-c|vtables-h OUTPUT XML…

schema-*  structs and field tables of records, messages, the rows that methods return, the options that they take, and
          the properties of services; the kinds of records, which services send them and the topics that they are
          published on
docs-c    what the documentation says of the fields of records and of these properties
vtables-c the sd-bus property tables over the structs of records
vtables-h the sd-bus tables of the services' own interfaces

generate.py state-xml OUTPUT TEMPLATE XML… makes the XML of org.alidade.State1, with a method for each kind of records
of nodes.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import schema  # noqa: E402

BANNER = "/* SPDX-License-Identifier: LGPL-2.1-or-later */\n/* Made by dbus-interfaces/generate.py; edit the XML. */\n"
C_TYPES = {"s": "const char *", "t": "uint64_t ", "x": "int64_t ", "d": "double ", "b": "int ",
           "as": "const char *const *", "aa{sv}": "AldRows ", schema.NUMBERS: "AldRows "}
FIELD_TYPES = {"s": "STRING", "t": "UINT64", "x": "INT64", "d": "DOUBLE", "b": "BOOLEAN", "as": "STRV",
               "aa{sv}": "ROWS", schema.NUMBERS: "ROWS"}
ABSENT = {"s": "NULL", "t": "ALD_ABSENT_UINT64", "x": "ALD_ABSENT_INT64", "d": "ALD_ABSENT_DOUBLE",
          "b": "ALD_ABSENT_BOOLEAN", "as": "NULL", schema.NUMBERS: "{}"}
EMISSION = {"const": "SD_BUS_VTABLE_PROPERTY_CONST", "true": "SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE", "false": "0"}


def structs(records, services, messages):
    """Every struct as (C name, symbol, fields, types of those that each row has); rows before the record that holds
    them."""
    for field in (field for interface in services for field in interface.rows):
        yield "Ald" + field.row, "ald_" + schema.snake(field.row), field.row_fields, field.fixed
    for record in records + messages + [interface for interface in services if interface.properties]:
        for field in record.fields:
            if field.row:
                yield "Ald" + field.row, "ald_" + schema.snake(field.row), field.row_fields, ""
        yield "Ald" + record.struct, "ald_" + record.symbol, record.fields, ""


def enum_name(struct, field):
    """What people read as JSON has names in lower case."""
    if field.side:
        struct = "Ald" + field.direction
    name = re.sub("|".join(schema.DIRECTIONS), "", field.name, count=1) if field.side else field.name
    return struct + name[0].upper() + name[1:]


def enums(records, services, messages):
    """{name: values}, each once even if both directions of a link, or several structs, have it."""
    return {enum_name(name, field): field.enum
            for name, _, fields, _ in structs(records, services, messages) for field in fields if field.enum}


def directions(records, services, messages):
    """{name of a struct: what a direction of a link has}, of all interfaces that name this struct."""
    found = {}
    for _, _, fields, _ in structs(records, services, messages):
        for field in fields:
            if field.side:
                first = found.setdefault(field.direction, {}).setdefault(field.direction_member, field)
                if (first.type, first.unit, first.enum) != (field.type, field.unit, field.enum):
                    raise schema.SchemaError(f"{field.where}.{field.name}: has another type, unit or Enum than "
                                             f"{first.where}.{first.name}, which is the same member of "
                                             f"{field.direction}")
    return found


def bases(records):
    """{name of a struct: the fields that all records which name it have in common}"""
    found = {}
    for record in records:
        if record.base:
            names = {(field.name, field.type) for field in record.fields}
            found[record.base] = [field for field in found.get(record.base, record.fields)
                                  if field.side or (field.name, field.type) in names]
    return found


def declarations(fields, indent="        "):
    """Members of a struct. The two directions of a link are an array, and have names."""
    out, directed = [], False
    for field in fields:
        unit = f" /* {field.unit} */" if field.unit else ""
        if not field.side:
            out.append(f"{indent}{C_TYPES[field.type]}{field.member};{unit}\n")
        elif not directed:
            directed = True
            out.append(f"{indent}union {{\n{indent}        Ald{field.direction} directions[2];\n"
                       f"{indent}        struct {{\n{indent}                Ald{field.direction} upload, download;\n"
                       f"{indent}        }};\n{indent}}};\n")
    return "".join(out)


def initializers(fields):
    out, directed = [], False
    for field in fields:
        value = (f"{{ .type = &ald_{schema.snake(field.row)}_struct }}" if field.row
                 else field.default or ABSENT[field.type])
        if not field.side:
            out.append(f"                .{field.member} = {value}, \\\n")
        elif not directed:
            directed = True
            one = f"ALD_{schema.snake(field.direction).upper()}_INIT"
            out.append(f"                .directions = {{ {one}, {one} }}, \\\n")
    return "".join(out)


def struct_h(name, members, init):
    symbol = "ALD_" + schema.snake(name[3:]).upper()
    return (f"typedef struct {name} {{\n{members}}} {name};\n\n"
            f"#define {symbol}_INIT \\\n        {{ \\\n{init}        }}\n\n")


def direction_h(name, fields):
    members = "".join(f"        {C_TYPES[field.type]}{member};" + (f" /* {field.unit} */" if field.unit else "") + "\n"
                      for member, field in fields.items())
    init = "".join(f"                .{member} = {ABSENT[field.type]}, \\\n" for member, field in fields.items())
    return struct_h("Ald" + name, members, init)


def based_h(name, base, common, fields):
    """A struct that begins with what it shares with others: its own members, and a struct of them."""
    shared = {field.member for field in common}
    own = [field for field in fields if field.member not in shared and not field.side]
    symbol = f"ALD_{schema.snake(base).upper()}_INIT"
    members = (f"        union {{\n                Ald{base} base;\n                struct {{\n"
               f"{declarations(common, ' ' * 24)}                }};\n        }};\n{declarations(own)}")
    return struct_h(name, members, f"                .base = {symbol}, \\\n{initializers(own)}")


def source_id(service):
    return "ALD_RECORD_SOURCE_" + schema.snake(service.kind.rstrip("1")).upper()


def source_ids(records, services):
    out = ["typedef enum AldRecordSourceId {\n"]
    out += [f"        {source_id(service)},\n" for service, _ in schema.sources(records, services)]
    out.append("        ALD_N_RECORD_SOURCES,\n} AldRecordSourceId;\n\n")
    return "".join(out)


def source_table(records, services):
    out = ["const AldRecordSource ald_record_sources[ALD_N_RECORD_SOURCES] = {\n"]
    for service, kinds in schema.sources(records, services):
        listed = ", ".join(f"ALD_KIND_{record.symbol.upper()}" for record in kinds)
        out.append(f"        [{source_id(service)}] = {{\n"
                   f'                .name = "{service.name}",\n'
                   f'                .path = "/{service.name.replace(".", "/")}",\n'
                   f'                .unit = "{service.daemon}",\n'
                   f"                .kinds = {{ {listed} }},\n"
                   f"                .n_kinds = {len(kinds)},\n"
                   f"                .optional = {str(service.optional).lower()},\n        }},\n")
    out.append("};\n\n")
    return "".join(out)


def topics(records):
    """The key of a link is a level of its own."""
    names = sorted(record.kind + ("/+" if record.is_link else "") for record in records if not record.is_local)
    out = ["const char *const ald_record_topics[] = {\n"]
    out += [f'        "{name}",\n' for name in names]
    out.append("        NULL,\n};\n")
    return "".join(out)


def unit_symbol(unit):
    return "ald_unit_" + re.sub(r"[^a-z0-9]+", "_", unit)


def units(records, services, messages):
    return sorted({field.unit for _, _, fields, _ in structs(records, services, messages)
                   for field in fields if field.unit})


def schema_h(records, services, messages):
    out = [BANNER, '#pragma once\n\n#include "record/field.h"\n\n']
    out.append("/* The units of the fields. One that record/units.c does not define is an error of the linker. */\n")
    out += [f"extern const AldUnit {unit_symbol(unit)};\n" for unit in units(records, services, messages)]
    out.append("\n/* All of them, ended by NULL. */\nextern const AldUnit *const ald_units[];\n\n")
    if sorted(records, key=lambda record: record.is_link) != records:
        raise schema.SchemaError("the records of nodes come before those of links")
    out.append("/* The kinds of nodes come before those of links. */\n"
               f"#define ALD_N_NODE_KINDS {sum(not record.is_link for record in records)}\n\n")
    out.append("typedef enum AldKind {\n")
    out += [f"        ALD_KIND_{record.symbol.upper()},\n" for record in records]
    out.append("        ALD_N_KINDS,\n\n        /* Messages: ald_message_parse(). */\n")
    out += [f"        ALD_KIND_{message.symbol.upper()}{' = ALD_N_KINDS' if i == 0 else ''},\n"
            for i, message in enumerate(messages)]
    out.append("        ALD_N_ALL_KINDS,\n} AldKind;\n\n")
    out.append(source_ids(records, services))
    for name, values in enums(records, services, messages).items():
        upper = "ALD_" + schema.snake(name[3:]).upper()
        out.append(f"typedef enum {name} {{\n")
        out += [f"        {upper}_{re.sub('[-.]', '_', value).upper()},\n" for value in values]
        out.append(f"        {upper}_N,\n}} {name};\n\n")
        out.append(f"const char *{upper.lower()}_to_string({name} value);\n"
                   f"/* -1 for any other text, and for NULL. */\n"
                   f"int {upper.lower()}_from_string(const char *text);\n\n")
    out += [direction_h(name, fields) for name, fields in directions(records, services, messages).items()]
    common = bases(records)
    out += [struct_h("Ald" + name, declarations(fields), initializers(fields)) for name, fields in common.items()]
    based = {"Ald" + record.struct: record.base for record in records if record.base}
    for name, symbol, fields, _ in structs(records, services, messages):
        base = based.get(name)
        out.append(based_h(name, base, common[base], fields) if base
                   else struct_h(name, declarations(fields), initializers(fields)))
        out.append(f"extern const AldStruct {symbol}_struct;\n\n")
    return "".join(out)


def field_facts(name, field):
    """What a table says of a field beside its name, type and place."""
    if field.unit:
        yield f".unit = &{unit_symbol(field.unit)}"
    if field.threshold:
        yield f".threshold = {field.threshold:g}, .relative = {str(field.relative).lower()}"
    if field.threshold_min:
        yield f".threshold_min = {field.threshold_min:.17g}"
    if field.threshold_max:
        yield f".threshold_max = {field.threshold_max:.17g}"
    if field.row:
        yield f".rows = &ald_{schema.snake(field.row)}_struct"
    if field.silent:
        yield ".silent = true"
    if field.required:
        yield ".required = true"
    if field.is_id:
        yield ".is_id = true"
    if field.minimum is not None:
        yield f".limited_below = true, .minimum = {field.minimum:.17g}"
    if field.maximum is not None:
        yield f".limited_above = true, .maximum = {field.maximum:.17g}"
    if field.enum:
        symbol = f"ald_{schema.snake(enum_name(name, field)[3:])}"
        yield f".from_string = {symbol}_from_string, .words = {symbol}_words"


def field_table(name, symbol, fields, fixed):
    out = [f"static const AldField {symbol}_fields[] = {{\n"]
    for field in fields:
        out.append(f'        {{ .name = "{field.name}", .name_length = {len(field.name)}, '
                   f".type = ALD_TYPE_{FIELD_TYPES[field.type]}, .offset = offsetof({name}, {field.member})")
        out += [f", {fact}" for fact in field_facts(name, field)]
        out.append(" },\n")
    out.append("};\n\n")
    out.append(f"static const {name} {symbol}_absent = {symbol.upper()}_INIT;\n\n")
    out.append(f"const AldStruct {symbol}_struct = {{\n        .name = \"{name[3:]}\",\n"
               f"        .fields = {symbol}_fields,\n        .n_fields = G_N_ELEMENTS({symbol}_fields),\n"
               f"        .size = sizeof({name}),\n        .absent = &{symbol}_absent,\n")
    if fixed:
        out.append(f'        .n_fixed = {len(fixed)},\n        .contents = "{fixed}a{{sv}}",\n')
    out.append("};\n\n")
    return "".join(out)


def schema_c(records, services, messages):
    out = [BANNER, "#include <glib.h>\n#include <stddef.h>\n\n#include \"record/kind.h\"\n"
           "#include \"record/record-source.h\"\n\n"]
    for name, values in enums(records, services, messages).items():
        lower = "ald_" + schema.snake(name[3:])
        strings = ", ".join(f'"{value}"' for value in values)
        out.append(f"static const char *const {lower}_words[] = {{ {strings}, NULL }};\n\n"
                   f"const char *{lower}_to_string({name} value)\n{{\n"
                   f"        g_assert((size_t) value < {lower.upper()}_N);\n"
                   f"        return {lower}_words[value];\n}}\n\n"
                   f"int {lower}_from_string(const char *text)\n{{\n"
                   f"        for (int i = 0; text && i < {lower.upper()}_N; i++)\n"
                   f"                if (g_str_equal({lower}_to_string(({name}) i), text))\n"
                   f"                        return i;\n"
                   f"        return -1;\n}}\n\n")
    out += [field_table(*struct) for struct in structs(records, services, messages)]
    out.append("const AldUnit *const ald_units[] = {\n")
    out += [f"        &{unit_symbol(unit)},\n" for unit in units(records, services, messages)]
    out.append("        NULL,\n};\n\n")
    out.append("const AldKindInfo ald_kinds[ALD_N_ALL_KINDS] = {\n")
    for record in records:
        out.append(f"        [ALD_KIND_{record.symbol.upper()}] = {{\n"
                   f'                .name = "{record.kind}",\n                .interface = "{record.name}",\n'
                   f'                .mapping = "{record.mapping}",\n'
                   f"                .type = &ald_{record.symbol}_struct,\n"
                   f"                .is_link = {str(record.is_link).lower()},\n"
                   f"                .persistent = {str(record.persistent).lower()},\n"
                   f"                .local = {str(record.is_local).lower()},\n"
                   f"                .for_peers = {str(record.sent_to == 'peers').lower()},\n"
                   f"                .qos = {record.qos},\n"
                   f"                .ttl_usec = UINT64_C({record.ttl_usec}),\n        }},\n")
    for message in messages:
        out.append(f"        [ALD_KIND_{message.symbol.upper()}] = {{\n"
                   f'                .name = "{message.kind[len(schema.MESSAGE):]}",\n'
                   f"                .type = &ald_{message.symbol}_struct,\n"
                   f"                .local = true,\n"
                   f"                .tolerant = {str(message.tolerant).lower()},\n        }},\n")
    out.append("};\n\n")
    out += [source_table(records, services), topics(records)]
    return "".join(out)


def c_string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' if text else "NULL"


def docs_table(symbol, words, fields, help):
    out = [f"static const AldFieldDocs {symbol}_field_docs[] = {{\n"]
    for field in fields:
        metric = f", .metric = ALD_FIELD_METRIC_{field.metric.upper()}" if field.metric else ""
        out.append(f'        {{ .words = "{field.words}"{metric},\n'
                   f"                .help = {c_string(field.help)} }},\n")
    out.append(f'}};\n\nstatic const AldStructDocs {symbol}_docs = {{ &ald_{symbol}_struct, "{words}",\n'
               f"        {c_string(help)}, {symbol}_field_docs }};\n\n")
    return "".join(out)


def docs_c(records, services, _messages):
    """Of records, their rows, and the properties of services."""
    out, symbols = [BANNER, "#include <stddef.h>\n\n#include \"record/docs.h\"\n#include \"record/schema.h\"\n\n"], []
    for interface in records + [service for service in services if service.properties]:
        for field in interface.fields:
            if field.row:
                symbols.append(schema.snake(field.row))
                out.append(docs_table(symbols[-1], field.member, field.row_fields, field.help))
        symbols.append(interface.symbol)
        out.append(docs_table(interface.symbol, interface.symbol, interface.fields, interface.help))
    out.append("const AldStructDocs *const ald_struct_docs[] = {\n")
    out += [f"        &{symbol}_docs,\n" for symbol in symbols]
    out.append("        NULL,\n};\n")
    return "".join(out)


def vtable_arguments(member, direction):
    """Of a signal, the arguments have no direction."""
    pairs = [f'"{argument.get("type")}", {argument.get("name")}' for argument in member.element.findall("arg")
             if argument.get("direction") == direction]
    return ", ".join(pairs) or "NULL"


def vtable_member(interface, member, shared):
    """A property that the struct holds is read from it; any other has a getter of its own. `shared` are the methods
    that one handler answers by their names."""
    if member.element.tag == "property":
        held = any(field.name == member.name for field in interface.fields)
        getter = "ald_properties_get, offsetof(Bus, properties)" if held else f"get_{schema.snake(member.name)}, 0"
        return (f'SD_BUS_PROPERTY("{member.name}", "{member.element.get("type")}", {getter}, '
                f"{EMISSION[member.emits_change]})")
    if member.element.tag == "signal":
        return f'SD_BUS_SIGNAL_WITH_ARGS("{member.name}", SD_BUS_ARGS({vtable_arguments(member, None)}), 0)'
    return (f'SD_BUS_METHOD_WITH_ARGS("{member.name}", SD_BUS_ARGS({vtable_arguments(member, "in")}), '
            f'SD_BUS_RESULT({vtable_arguments(member, "out")}), '
            f"{shared.get(member.name) or 'method_' + schema.snake(member.name)}, SD_BUS_VTABLE_UNPRIVILEGED)")


def vtables_h(records, services, _messages):
    """Macros, since the handlers that a table names are static functions of the file that includes it."""
    shared = {f"Get{record.mapping}": "method_get_mapping" for record in records if not record.is_link}
    out = [BANNER, "#pragma once\n\n#include <stddef.h>\n\n#include \"services/common/properties.h\"\n\n",
           "/* The tables of the services' own interfaces. Bus is the type of the userdata. Properties are read by\n"
           " * ald_properties_get() from its member `properties`, or by get_NAME() if they are not in the struct.\n"
           " * Method GetNodes is handled by method_get_nodes(). */\n"]
    for interface in services:
        members = [vtable_member(interface, member, shared) for member in interface.members]
        entries = ["SD_BUS_VTABLE_START(0)", *members, "SD_BUS_VTABLE_END"]
        name = schema.snake(interface.kind.replace(".", "")).upper()
        out.append(f"\n#define ALD_{name}_VTABLE(Bus) \\\n        " + ", \\\n        ".join(entries) + "\n")
    return "".join(out)


def vtables_c(records, _services, _messages):
    """sd-bus reads scalars and strings by itself: its C types are those of the structs."""
    out = [BANNER, '#include "record/record-bus.h"\n#include "record/schema.h"\n\n']
    for record in records:
        out.append(f"static const sd_bus_vtable {record.symbol}_vtable[] = {{\n        SD_BUS_VTABLE_START(0),\n")
        for field in record.fields:
            getter = "ald_record_bus_get_rows" if field.row else "NULL"
            out.append(f'        SD_BUS_PROPERTY("{field.name}", "{field.type}", {getter},\n'
                       f"                ALD_RECORD_OFFSET(Ald{record.struct}, {field.member}), "
                       "SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),\n")
        for name in schema.ENVELOPE:
            out.append(f'        SD_BUS_PROPERTY("{name}", "t", NULL, offsetof(AldRecord, {schema.snake(name)}), '
                       "SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),\n")
        out.append("        SD_BUS_VTABLE_END\n};\n\n")
    out.append("const sd_bus_vtable *const ald_record_vtables[ALD_N_KINDS] = {\n")
    out += [f"        [ALD_KIND_{r.symbol.upper()}] = {r.symbol}_vtable,\n" for r in records]
    out.append("};\n")
    return "".join(out)


MAKERS = {"schema-h": schema_h, "schema-c": schema_c, "docs-c": docs_c, "vtables-c": vtables_c,
          "vtables-h": vtables_h}


def state_xml(template, records):
    """Each paragraph with @Mapping@ in it is repeated for all kinds of records of nodes."""
    out = []
    for paragraph in template.split("\n\n"):
        kinds = [record for record in records if not record.is_link] if "@Mapping@" in paragraph else [None]
        out += [paragraph.replace("@Mapping@", record.mapping).replace("@Kind@", record.kind) if record else paragraph
                for record in kinds]
    return "\n\n".join(out)


def main(argv):
    if len(argv) < 4 or argv[1] not in [*MAKERS, "state-xml"]:
        sys.exit(__doc__)
    try:
        if argv[1] == "state-xml":
            template = Path(argv[3]).read_text(encoding="utf-8")
            Path(argv[2]).write_text(state_xml(template, schema.load_all(argv[4:])), encoding="utf-8")
            return
        interfaces = schema.load_all(argv[3:])
        records = [interface for interface in interfaces if interface.is_record]
        messages = [interface for interface in interfaces if interface.is_message]
        services = [interface for interface in interfaces if not interface.is_record and not interface.is_message]
        Path(argv[2]).write_text(MAKERS[argv[1]](records, services, messages), encoding="utf-8")
    except schema.SchemaError as error:
        sys.exit(f"generate.py: {error}")


if __name__ == "__main__":
    main(sys.argv)
