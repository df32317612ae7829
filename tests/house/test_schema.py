# SPDX-License-Identifier: LGPL-2.1-or-later
"""The generators: what they make of good XML, and that bad XML is refused by name."""

import os
import re
import shlex
import subprocess
import sys

import pytest

from tree import SOURCE, read

INTERFACES = SOURCE / "dbus-interfaces"
sys.path.insert(0, str(INTERFACES))
import generate  # noqa: E402
import man  # noqa: E402
import schema  # noqa: E402

ENVELOPE = '<property name="Revision" type="t" access="read"/><property name="UpdatedUSec" type="t" access="read"/>'
FACTS = {"Mapping": "Tests", "Source": "Telemetry1", "Pace": "occasional", "SentTo": "mirrors"}


def parse(tmp_path, body, name="org.alidade.Node1.Test"):
    path = tmp_path / "test.xml"
    path.write_text(f'<node><!-- {name}: Words. More words. -->\n<interface name="{name}">{body}</interface></node>')
    return schema.load(path)[0]


def stated(**facts):
    """The annotations that each record has; a fact that is None is left out."""
    return "".join(annotation(name, value) for name, value in {**FACTS, **facts}.items() if value is not None)


def record(tmp_path, body, name="org.alidade.Node1.Test", **facts):
    return parse(tmp_path, stated(**facts) + body + ENVELOPE, name)


def telemetry(tmp_path, more=""):
    """The service that FACTS name as the source."""
    return parse(tmp_path, annotation("Daemon", "alidade-telemetryd") + more, "org.alidade.Telemetry1")


def field(type, annotations="", name="Value"):
    return f'<!-- {name}: What it is. --><property name="{name}" type="{type}" access="read">{annotations}</property>'


def annotation(name, value):
    return f'<annotation name="org.alidade.{name}" value="{value}"/>'


def row(*fields):
    return annotation("Row", "TestRow") + "".join(annotation(f"Row.{name}", type) for name, type in fields)


@pytest.mark.parametrize("name, expected", [
    ("AvailableBytes", "available_bytes"), ("UpdatedUSec", "updated_usec"), ("RttP50NSec", "rtt_p50_nsec"),
    ("TflopsFp16", "tflops_fp16"), ("PressureSome10", "pressure_some10"), ("Id", "id"),
    ("OpenClPlatform", "open_cl_platform"), ("LinkSocket", "link_socket")])
def test_snake(name, expected):
    assert schema.snake(name) == expected


def test_rows_that_a_method_returns(tmp_path):
    """They need no Id; what is not described stays as it is."""
    rows = row(("State", "s"), ("Load", "d"))
    service = parse(tmp_path, f'<method name="Get"><arg name="Rows" type="aa{{sv}}" direction="out">{rows}</arg>'
                    '<arg name="Others" type="aa{sv}" direction="out"/></method>', "org.alidade.Test1")
    assert [(field.name, field.row) for field in service.rows] == [("Rows", "TestRow")]
    header, source = generate.schema_h([], [service], []), generate.schema_c([], [service], [])
    assert "typedef struct AldTestRow {" in header and "const AldStruct ald_test_row_struct" in source
    page = man.page(service)
    assert page.index("Get(") < page.index("State") < page.index("Load")
    with pytest.raises(schema.SchemaError, match="Rows: type aa"):
        parse(tmp_path, f'<method name="Get"><arg name="Rows" type="s">{rows}</arg></method>', "org.alidade.Test1")


def test_argument_that_is_one_row(tmp_path):
    limits = annotation("Row.Rate.Minimum", "1") + annotation("Row.Rate.Maximum", "2")
    one = row(("Engine", "s"), ("Rate", "d")) + limits
    service = parse(tmp_path, f'<method name="Plan"><arg name="Options" type="a{{sv}}" direction="in">{one}</arg>'
                    '</method>', "org.alidade.Test1")
    assert ".limited_below = true, .minimum = 1" in generate.schema_c([], [service], [])
    assert "From 1 to 2." in man.page(service)
    with pytest.raises(schema.SchemaError, match="a record has lists of rows only"):
        record(tmp_path, field("a{sv}", row(("Id", "s"))))


def test_options_of_a_method(tmp_path):
    """They have what no record may have: defaults, numbers by name, and lists of ids and of words."""
    fields = [("Most", "t", "Default", "3"), ("Force", "b", "Default", "true"), ("Rate", "d", "Default", "0.5"),
              ("Kinds", "as", "Enum", "a b"), ("Avoid", "as", "Format", "id"), ("Traffic", "a{st}", None, None)]
    notes = annotation("Row", "TestOptions") + "".join(
        annotation(f"Row.{name}", type) + (annotation(f"Row.{name}.{fact}", value) if fact else "")
        for name, type, fact, value in fields)
    service = parse(tmp_path, f'<method name="Plan"><arg name="Options" type="a{{sv}}" direction="in">{notes}</arg>'
                    '</method>', "org.alidade.Test1")
    header, source = generate.schema_h([], [service], []), generate.schema_c([], [service], [])
    for wanted in (".most = 3,", ".force = 1,", ".rate = 0.5,", ".kinds = NULL,", ".traffic = {},",
                   "        AldRows traffic;", "ald_test_options_kinds_from_string"):
        assert wanted in header, wanted
    assert "offsetof(AldTestOptions, avoid), .is_id = true" in source
    page = man.page(service)
    for wanted in ("Default: 3.", "Default: true.", 'Some of "a", "b".', "unsigned integers by name"):
        assert wanted in page, wanted
    for type, fact, value in (("t", "Default", "3"), ("as", "Enum", "a b"), ("as", "Format", "id")):
        with pytest.raises(schema.SchemaError, match="only options of a method"):
            record(tmp_path, field(type, annotation(fact, value)))
    with pytest.raises(schema.SchemaError, match="only options of a method"):
        record(tmp_path, field("aa{sv}", row(("Id", "s"), ("Load", "a{st}")), "Rows"))
    for type, value in (("s", "x"), ("t", "many"), ("t", "-1"), ("t", str(2 ** 63)), ("x", str(-2 ** 63)), ("d", "inf"),
                        ("d", "nan"), ("b", "1")):
        with pytest.raises(schema.SchemaError, match="Value: (Default|only numbers and booleans have a Default)"):
            record(tmp_path, field(type, annotation("Default", value)))


def test_boolean_option_without_a_default(tmp_path):
    """Absent, it would be neither, and in C true. What a method returns may be absent."""
    notes = row(("Force", "b"))
    with pytest.raises(schema.SchemaError, match="Plan: TestRow.Force: a boolean option lacks a Default"):
        parse(tmp_path, f'<method name="Plan"><arg name="Options" type="a{{sv}}" direction="in">{notes}</arg></method>',
              "org.alidade.Test1")
    parse(tmp_path, f'<method name="Plan"><arg name="Plan" type="a{{sv}}" direction="out">{notes}</arg></method>',
          "org.alidade.Test1")


BAD_RECORDS = [
    (field("u"), "TestRecord.Value: type u is none of"),
    (field("t", annotation("Enum", "a b")), "Value: an Enum must be of type s"),
    (field("s", annotation("Threshold", "1")), "Value: only numbers have a Threshold"),
    (field("s", annotation("Colour", "red")), "Value: unknown annotation org.alidade.Colour"),
    (field("aa{sv}"), "Value: type aa{sv}, a Row annotation and the fields of the row go together"),
    (field("t", row(("Id", "s"))), "Value: type aa{sv}, a Row annotation and the fields of the row go together"),
    (field("aa{sv}", row()), "Value: type aa{sv}, a Row annotation and the fields of the row go together"),
    (field("aa{sv}", row(("Id", "s"), ("More", "aa{sv}"))), "Value: a row has no rows"),
    (field("aa{sv}", row(("Id", "s"), ("Load.Unit", "percent"))), "Row.Load.Unit does not follow org.alidade.Row.Load"),
    (field("aa{sv}", row(("Name", "s"))), "Value: the first field of a row is Id, of type s"),
    (field("aa{sv}", row(("Id", "t"))), "Value: the first field of a row is Id, of type s"),
    (field("aa{sv}", row(("Id", "s"), ("Load", "y"))), "TestRow.Load: type y is none of"),
    ('<method name="Do"/>', "Do: a record interface has properties only"),
    ("".join(field("t", name=f"F{i}") for i in range(65)), "more than 64 fields"),
    (field("aa{sv}", row(("Id", "s"), *((f"F{i}", "t") for i in range(64)))), "more than 64 fields"),
    ('<annotation name="org.alidade.Colour" value="red"/>', "unknown annotation org.alidade.Colour"),
    ('<annotation name="Persistent" value="true"/>', "unknown annotation Persistent"),
    (field("t", '<annotation name="Unit" value="bytes"/>'), "Value: unknown annotation Unit"),
    (field("t", annotation("Minimum", "-inf")), "Value: Minimum -inf: not finite"),
    (field("aa{sv}", row(("Id", "s"))), "test.xml: Value: the name of a list of rows must end in s"),
]


@pytest.mark.parametrize("body, message", BAD_RECORDS, ids=[message for _, message in BAD_RECORDS])
def test_bad_record_is_refused_by_name(tmp_path, body, message):
    with pytest.raises(schema.SchemaError) as caught:
        record(tmp_path, body)
    assert message.replace("TestRecord", "Test") in str(caught.value)


@pytest.mark.parametrize("missing", schema.ENVELOPE)
def test_record_without_envelope_is_refused(tmp_path, missing):
    kept = "".join(part + "/>" for part in ENVELOPE.split("/>") if part and missing not in part)
    with pytest.raises(schema.SchemaError, match=f"lacks {missing}"):
        parse(tmp_path, stated() + field("t") + kept)


def test_foreign_interface_is_refused(tmp_path):
    with pytest.raises(schema.SchemaError, match="com.example.X does not begin with org.alidade."):
        parse(tmp_path, "", "com.example.X")


def test_broken_xml_names_the_file(tmp_path):
    path = tmp_path / "broken.xml"
    path.write_text("<node><interface></node>")
    with pytest.raises(schema.SchemaError, match="broken.xml"):
        schema.load(path)


@pytest.mark.parametrize("program, arguments", [
    ("generate.py", ["schema-h", "out", "broken.xml"]), ("man.py", ["out", "org.alidade.X", "broken.xml"])])
def test_programs_end_with_the_reason(tmp_path, program, arguments):
    (tmp_path / "broken.xml").write_text("<node>")
    done = subprocess.run([sys.executable, "-B", INTERFACES / program, *arguments], cwd=tmp_path,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"{program}: broken.xml: ")
    assert not (tmp_path / "out").exists()


def test_facts_of_a_field(tmp_path):
    interface = record(tmp_path, field("d", annotation("Unit", "percent") + annotation("Threshold", "2.5%"))
                       + field("s", annotation("Enum", "up down-low"), "State")
                       + field("aa{sv}", row(("Id", "s"), ("Load", "x"), ("Load.Unit", "percent")), "Rows"))
    value, state, rows = interface.fields
    assert (value.unit, value.threshold, value.relative, value.doc) == ("percent", 0.025, True, "What it is.")
    assert state.enum == ["up", "down-low"]
    assert [(sub.name, sub.type, sub.unit) for sub in rows.row_fields] == [("Id", "s", None), ("Load", "x", "percent")]
    assert (interface.kind, interface.struct, interface.doc) == ("Node1.Test", "Test", "Words. More words.")


def test_share_that_is_capped(tmp_path):
    interface = record(tmp_path, field("t", annotation("Unit", "bytes") + annotation("Threshold", "0.5%,268435456")))
    value, = interface.fields
    assert (value.threshold, value.relative, value.threshold_max) == (0.005, True, 2 ** 28)
    source = generate.schema_c([interface], [telemetry(tmp_path)], [])
    assert ".threshold = 0.005, .relative = true, .threshold_max = 268435456" in source
    assert ("Changes below 0.5 % of the value sent before (at most 268435456 bytes) are sent later."
            in man.page(interface))


def test_share_with_bounds(tmp_path):
    interface = record(tmp_path, field("d", annotation("Threshold", "0.1,10%"))
                       + field("d", annotation("Threshold", "0.1,10%,20"), "Both"))
    value, both = interface.fields
    assert (value.threshold, value.relative, value.threshold_min, value.threshold_max) == (0.1, True, 0.1, 0)
    assert (both.threshold_min, both.threshold_max) == (0.1, 20)
    source = generate.schema_c([interface], [telemetry(tmp_path)], [])
    assert ".threshold = 0.1, .relative = true, .threshold_min = 0.1" in source
    assert "Changes below 10 % of the value sent before (at least 0.1) are sent later." in man.page(interface)


@pytest.mark.parametrize("threshold", ["5,6", "5%,0", "5%,-1", "5%,", "%", "much", "5%,6,7", "0,5%", "7,5%,6",
                                       "5%,6%", "nan", "inf%"])
def test_threshold_that_makes_no_sense(tmp_path, threshold):
    with pytest.raises(schema.SchemaError, match="Test.Value: Threshold .*(: a bound is 0|is neither a number)"):
        record(tmp_path, field("t", annotation("Threshold", threshold)))


def message(tmp_path, body):
    return parse(tmp_path, body, "org.alidade.Message1.Test")


def test_messages_have_no_envelope_and_are_checked(tmp_path):
    limits = annotation("Required", "true") + annotation("Minimum", "1") + annotation("Maximum", "1e3")
    told = message(tmp_path, annotation("Tolerant", "true") + field("t", limits)
                   + field("s", annotation("Format", "id"), "Node") + field("b", name="Late")
                   + field("s", annotation("Enum", "up down-low"), "state"))
    header, source = generate.schema_h([], [], [told]), generate.schema_c([], [], [told])
    for wanted in ("ALD_KIND_TEST = ALD_N_KINDS,", "const char *state;",
                   "int ald_test_state_from_string(const char *text);"):
        assert wanted in header
    for wanted in (".required = true, .limited_below = true, .minimum = 1, .limited_above = true, .maximum = 1000",
                   ".is_id = true", ".from_string = ald_test_state_from_string", '.name = "Test"', ".tolerant = true"):
        assert wanted in source
    assert "ALD_KIND_TEST" not in generate.vtables_c([], [], [told])


@pytest.mark.parametrize("fact, value, type", [
    ("Required", "true", "t"), ("Minimum", "1", "d"), ("Maximum", "1", "x"), ("Format", "id", "s")])
def test_only_messages_are_checked(tmp_path, fact, value, type):
    with pytest.raises(schema.SchemaError, match="only fields of messages are checked"):
        record(tmp_path, field(type, annotation(fact, value)))
    with pytest.raises(schema.SchemaError, match="only fields of messages are checked"):
        record(tmp_path, field("aa{sv}", row(("Id", "s"), ("Value", type)) + annotation(f"Row.Value.{fact}", value)))


def test_a_record_may_have_at_most_so_many_rows(tmp_path):
    told = record(tmp_path, field("aa{sv}", row(("Id", "s")) + annotation("Maximum", "8"), "Rows"))
    assert ".limited_above = true, .maximum = 8" in generate.schema_c([told], [telemetry(tmp_path)], [])


def test_maximum_of_strings_and_rows_is_their_number(tmp_path):
    told = message(tmp_path, field("aa{sv}", row(("Id", "s")) + annotation("Maximum", "8"), "Rows")
                   + field("as", annotation("Maximum", "7"), "Words"))
    source = generate.schema_c([], [], [told])
    assert ".limited_above = true, .maximum = 8" in source and ".limited_above = true, .maximum = 7" in source
    with pytest.raises(schema.SchemaError, match="only numbers have a Minimum"):
        message(tmp_path, field("aa{sv}", row(("Id", "s")) + annotation("Minimum", "1"), "Rows"))


@pytest.mark.parametrize("type, fact, value", [
    ("s", "Minimum", "1"), ("t", "Maximum", "much"), ("t", "Format", "id"), ("s", "Format", "date"),
    ("t", "Required", "false")])
def test_check_that_makes_no_sense(tmp_path, type, fact, value):
    with pytest.raises(schema.SchemaError, match="Message1?.*Value|Test.Value"):
        message(tmp_path, field(type, annotation(fact, value)))


def test_link_structs_say_so(tmp_path):
    interface = record(tmp_path, field("t"), "org.alidade.Link1.Test")
    assert (interface.struct, interface.symbol, interface.is_link) == ("LinkTest", "link_test", True)


SPEED = field("t", annotation("Unit", "bits per second"), "LastUploadBitsPerSecond")
DOWN = '<property name="LastDownloadBitsPerSecond" type="t" access="read"/>'
BOTH_WAYS = annotation("Directions", "LinkWay") + annotation("Base", "LinkBase")


def test_directions_are_one_struct_and_are_described_once(tmp_path):
    """Two kinds of links, the second with less of a direction and more of its own."""
    limiter = field("s", annotation("Enum", "host wire"), "UploadLimiter")
    limiters = limiter + '<property name="DownloadLimiter" type="s" access="read"/>'
    own = {"A": limiters, "B": field("x", name="Lag")}
    links = [record(tmp_path, BOTH_WAYS + field("s", name="Sink") + SPEED + DOWN + fields, f"org.alidade.Link1.{name}")
             for name, fields in own.items()]
    up, down = links[0].fields[1:3]
    assert (up.member, down.member) == ("upload.last_bits_per_second", "download.last_bits_per_second")
    assert (down.unit, down.doc, down.words) == ("bits per second", "What it is.", "last_download_bits_per_second")
    services = [telemetry(tmp_path)]
    header, source = generate.schema_h(links, services, []), generate.schema_c(links, services, [])
    for wanted in ("typedef struct AldLinkWay {\n        uint64_t last_bits_per_second; /* bits per second */\n"
                   "        const char *limiter;\n} AldLinkWay;", "AldLinkWay directions[2];", "AldLinkBase base;",
                   "        };\n        int64_t lag;\n} AldLinkB;", ".base = ALD_LINK_BASE_INIT"):
        assert wanted in header, header
    assert [header.count(f"}} {name};") for name in ("AldLinkWay", "AldLinkBase", "AldLinkWayLimiter")] == [1, 1, 1]
    assert "offsetof(AldLinkB, download.last_bits_per_second)" in source
    assert source.count("const AldStruct ") == 2
    page = man.page(links[0])
    assert ".BR LastDownloadBitsPerSecond \" (unsigned integer)\"\nWhat it is.\n.br\nUnit: bits per second.\n" in page


@pytest.mark.parametrize("fields", [
    field("x", annotation("Unit", "bits per second"), "LastUploadBitsPerSecond") + DOWN.replace('"t"', '"x"'),
    field("t", annotation("Unit", "none"), "LastUploadBitsPerSecond") + DOWN], ids=["type", "unit"])
def test_direction_that_two_kinds_of_links_describe_differently(tmp_path, fields):
    """They share its struct, so one would read the member of the other as what it is not."""
    links = [record(tmp_path, annotation("Directions", "LinkWay") + of_kind, f"org.alidade.Link1.{name}")
             for name, of_kind in (("A", SPEED + DOWN), ("B", fields))]
    with pytest.raises(schema.SchemaError, match="B.LastUploadBitsPerSecond: has another type, unit or Enum than"):
        generate.schema_h(links, [telemetry(tmp_path)], [])


def test_links_are_not_for_peers(tmp_path):
    with pytest.raises(schema.SchemaError, match="SentTo peers: nodes that mirror nothing receive no links"):
        record(tmp_path, field("t"), "org.alidade.Link1.A", SentTo="peers")


def test_directions_of_rows(tmp_path):
    told = record(tmp_path, field("aa{sv}", row(("Id", "s"), ("UploadLoad", "d"), ("UploadLoad.Unit", "percent"),
                                             ("DownloadLoad", "d"), ("Other", "t"))
                                  + annotation("Directions", "RowWay"), "Rows"))
    assert [sub.unit for sub in told.fields[0].row_fields] == [None, "percent", "percent", None]
    assert "        AldRowWay directions[2];" in generate.schema_h([told], [telemetry(tmp_path)], [])
    assert '"DownloadLoad", .name_length = 12, .type = ALD_TYPE_DOUBLE, .offset = offsetof(AldTestRow, download.load)' \
        in generate.schema_c([told], [telemetry(tmp_path)], [])


@pytest.mark.parametrize("fields, message", [
    ([("UploadLoad", "d")], "UploadLoad: its Download of the same type does not follow"),
    ([("UploadLoad", "d"), ("DownloadLoad", "t")], "UploadLoad: its Download of the same type does not follow"),
    ([("UploadLoad", "d"), ("Lag", "t"), ("DownloadLoad", "d")], "UploadLoad: its Download of the same type does not"),
    ([("UploadLoad", "d"), ("DownloadLoad", "d"), ("DownloadLoad.Unit", "percent")],
     "DownloadLoad: is described with UploadLoad"),
    ([("DownloadLoad", "d"), ("UploadLoad", "d")], "DownloadLoad: its Upload is not before it")])
def test_direction_of_rows_that_is_not_the_other_again(tmp_path, fields, message):
    with pytest.raises(schema.SchemaError, match=f"Rows: {message}"):
        record(tmp_path, field("aa{sv}", row(("Id", "s"), *fields) + annotation("Directions", "RowWay"), "Rows"))


@pytest.mark.parametrize("body, message", [
    (SPEED, "LastUploadBitsPerSecond: its Download of the same type does not follow"),
    (SPEED + DOWN.replace('"t"', '"x"'), "LastUploadBitsPerSecond: its Download of the same type does not follow"),
    (SPEED + SPEED.replace("Upload", "Download"),
     "LastDownloadBitsPerSecond: is described with LastUploadBitsPerSecond"),
    (DOWN, "LastDownloadBitsPerSecond: its Upload is not before it")], ids=["alone", "type", "twice", "other"])
def test_direction_that_is_not_the_other_again(tmp_path, body, message):
    with pytest.raises(schema.SchemaError, match=message):
        record(tmp_path, BOTH_WAYS + body)


def test_facts_of_a_record(tmp_path):
    plain = record(tmp_path, field("t"))
    marked = record(tmp_path, annotation("Persistent", "true") + field("t"), SentTo="nobody", Source="State1")
    assert (plain.persistent, plain.is_local, marked.persistent, marked.is_local) == (False, False, True, True)
    for interface, value in ((plain, "false"), (marked, "true")):
        source = generate.schema_c([interface], [telemetry(tmp_path)], [])
        assert f".persistent = {value}," in source and f".local = {value}," in source


@pytest.mark.parametrize("fact", schema.RECORD_FACTS)
def test_record_that_does_not_state_where_it_goes(tmp_path, fact):
    """The error names the file and the annotation."""
    with pytest.raises(schema.SchemaError, match=rf"test.xml: lacks the annotation org.alidade.{fact}$"):
        record(tmp_path, field("t"), **{fact: None})


@pytest.mark.parametrize("fact, value, reason", [
    ("SentTo", "all", "SentTo all is none of nobody mirrors peers"),
    ("SentTo", "nobody", "SentTo nobody: only State1 makes records that are not sent"),
    ("Pace", "often", "Pace often is none of continuous occasional, nor a time such as 5min"),
    ("Pace", "5", "Pace 5 is none of")])
def test_record_that_states_what_there_is_not(tmp_path, fact, value, reason):
    with pytest.raises(schema.SchemaError, match=f"test.xml: {reason}"):
        record(tmp_path, field("t"), **{fact: value})


@pytest.mark.parametrize("name, notes", [
    ("org.alidade.Test1", annotation("Pace", "occasional")), ("org.alidade.Test1", annotation("Optional", "true")),
    ("org.alidade.Test1", annotation("Persistent", "true")), ("org.alidade.Node1.Test", annotation("Daemon", "x")),
    ("org.alidade.Message1.Test", annotation("Source", "Telemetry1"))])
def test_annotation_of_another_interface(tmp_path, name, notes):
    with pytest.raises(schema.SchemaError, match="test.xml: unknown annotation org.alidade."):
        parse(tmp_path, notes, name)


def test_source_that_there_is_not(tmp_path):
    stray = record(tmp_path, field("t"), Source="Telemetry2")
    with pytest.raises(schema.SchemaError, match="test.xml: Source Telemetry2 is no interface with the annotation"):
        generate.schema_h([stray], [telemetry(tmp_path)], [])


def test_where_records_go_follows_the_xml(tmp_path):
    kinds = [record(tmp_path, field("t"), "org.alidade.Node1.Rare", SentTo="peers"),
             record(tmp_path, field("t"), "org.alidade.Node1.Often", Pace="continuous"),
             record(tmp_path, field("t"), "org.alidade.Node1.Own", SentTo="nobody", Source="State1"),
             record(tmp_path, field("t"), "org.alidade.Link1.Cable", Pace="6h")]
    service = telemetry(tmp_path, annotation("Optional", "true"))
    header = generate.schema_h(kinds, [service], [])
    assert "        ALD_RECORD_SOURCE_TELEMETRY,\n        ALD_N_RECORD_SOURCES,\n" in header
    source = generate.schema_c(kinds, [service], [])
    for wanted in ('[ALD_RECORD_SOURCE_TELEMETRY] = {\n                .name = "org.alidade.Telemetry1",\n'
                   '                .path = "/org/alidade/Telemetry1",\n                .unit = "alidade-telemetryd",\n'
                   "                .kinds = { ALD_KIND_RARE, ALD_KIND_OFTEN },\n                .n_kinds = 2,\n"
                   "                .optional = true,\n",
                   'ald_record_topics[] = {\n        "Link1.Cable/+",\n        "Node1.Often",\n        "Node1.Rare",\n'
                   "        NULL,\n"):
        assert wanted in source
    assert re.findall(r"\.(for_peers|qos|ttl_usec) = (?:UINT64_C\()?(\w+)", source) == [
        ("for_peers", "true"), ("qos", "1"), ("ttl_usec", "0"), ("for_peers", "false"), ("qos", "0"), ("ttl_usec", "0"),
        ("for_peers", "false"), ("qos", "1"), ("ttl_usec", "0"),
        ("for_peers", "false"), ("qos", "1"), ("ttl_usec", str(6 * 3600 * 10 ** 6))]
    made = generate.state_xml("Before.\n\nGet@Mapping@ of @Kind@.\n\nAfter.\n", kinds)
    assert made == ("Before.\n\nGetTests of Node1.Rare.\n\nGetTests of Node1.Often.\n\nGetTests of Node1.Own.\n\n"
                    "After.\n")
    page = man.page(service, kinds)
    assert ".SH RECORDS\n.BR org.alidade.Node1.Rare (5),\n.BR org.alidade.Node1.Often (5),\n" in page
    assert "Node1.Own" not in page and ".BR org.alidade.State1 (5)\n.PP\nIt never leaves" in man.page(kinds[2])


def test_kinds_of_nodes_are_counted(tmp_path):
    kinds = [record(tmp_path, field("t"), f"org.alidade.{kind}") for kind in ("Node1.A", "Node1.B", "Link1.A")]
    assert "#define ALD_N_NODE_KINDS 2\n" in generate.schema_h(kinds, [telemetry(tmp_path)], [])
    with pytest.raises(schema.SchemaError, match="the records of nodes come before those of links"):
        generate.schema_h(kinds[::-1], [telemetry(tmp_path)], [])


def test_properties_of_a_service(tmp_path):
    service = parse(tmp_path, annotation("Properties", "Sums") + field("d", "", "Speed") + field("t", "", "FreePages")
                    + field("a{sv}", "", "Reasons"), "org.alidade.Test1")
    assert not service.is_record
    header, source = generate.schema_h([], [service], []), generate.schema_c([], [service], [])
    assert "typedef struct AldSums {\n        double speed;\n        uint64_t free_pages;\n} AldSums;" in header
    assert '"FreePages", .name_length = 9, .type = ALD_TYPE_UINT64' in source and "Reasons" not in header + source


def emitting(value):
    return f'<annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="{value}"/>'


def test_vtable_of_a_service(tmp_path):
    """Properties are read from the struct if it holds them; methods of records share one handler."""
    service = parse(tmp_path, annotation("Properties", "Sums") + field("d", "", "Speed")
                    + field("t", emitting("false"), "Lost") + field("a{sv}", emitting("const"), "Reasons")
                    + field("t", emitting("false") + annotation("Computed", "true"), "SizePages")
                    + '<method name="GetTests"/><method name="SetSpeed"><arg name="Speed" type="d" direction="in"/>'
                    '<arg name="Old" type="d" direction="out"/><arg name="Now" type="d" direction="out"/></method>'
                    '<signal name="Gone"><arg name="Id" type="s"/></signal>', "org.alidade.Test1")
    assert [(found.name, found.silent) for found in service.fields] == [("Speed", False), ("Lost", True)]
    assert '"Lost", .name_length = 4, .type = ALD_TYPE_UINT64, .offset = offsetof(AldSums, lost), .silent = true' \
        in generate.schema_c([], [service], [])
    _, macro = generate.vtables_h([record(tmp_path, field("t"))], [service], []).split("#define ")
    held = "ald_properties_get, offsetof(Bus, properties)"
    assert [line.strip(" ,\\") for line in macro.splitlines()] == [
        "ALD_TEST1_VTABLE(Bus)", "SD_BUS_VTABLE_START(0)",
        f'SD_BUS_PROPERTY("Speed", "d", {held}, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE)',
        f'SD_BUS_PROPERTY("Lost", "t", {held}, 0)',
        'SD_BUS_PROPERTY("Reasons", "a{sv}", get_reasons, 0, SD_BUS_VTABLE_PROPERTY_CONST)',
        'SD_BUS_PROPERTY("SizePages", "t", get_size_pages, 0, 0)',
        'SD_BUS_METHOD_WITH_ARGS("GetTests", SD_BUS_ARGS(NULL), SD_BUS_RESULT(NULL), method_get_mapping, '
        "SD_BUS_VTABLE_UNPRIVILEGED)",
        'SD_BUS_METHOD_WITH_ARGS("SetSpeed", SD_BUS_ARGS("d", Speed), SD_BUS_RESULT("d", Old, "d", Now), '
        "method_set_speed, SD_BUS_VTABLE_UNPRIVILEGED)",
        'SD_BUS_SIGNAL_WITH_ARGS("Gone", SD_BUS_ARGS("s", Id), 0)', "SD_BUS_VTABLE_END"]
    with pytest.raises(schema.SchemaError, match="Lost: a property that is Computed emits no change"):
        parse(tmp_path, annotation("Properties", "Sums") + field("t", annotation("Computed", "true"), "Lost"),
              "org.alidade.Test1")


@pytest.mark.parametrize("doc, first", [
    ("One thing.", "One thing."), ("One\n  thing of\nfoo.conf. Another.", "One thing of foo.conf."),
    ("Is it 2.0 or 3? No. Yes.", "Is it 2.0 or 3? No."), ("Of it. alidade-x does it.", "Of it."), ("", "")])
def test_first_sentence(doc, first):
    assert schema.first_sentence(doc) == first


def test_metrics_of_fields(tmp_path):
    stamp = annotation("Unit", schema.TIMESTAMP)
    interface = record(tmp_path, field("t", stamp, "SeenUSec") + field("t", annotation("Metric", "counter"), "Lost")
                       + field("s", annotation("Metric", "none"), "Why")
                       + field("aa{sv}", row(("Id", "s"), ("Load", "d")) + annotation("Row.Load.Unit", "percent"),
                               "Rows"))
    source = generate.docs_c([interface], [], [])
    for wanted in ('.words = "seen_usec", .metric = ALD_FIELD_METRIC_TIMESTAMP,',
                   '.words = "lost", .metric = ALD_FIELD_METRIC_COUNTER,',
                   ".metric = ALD_FIELD_METRIC_NONE,",
                   '.words = "load",', '{ &ald_test_row_struct, "rows",', '"Words."',
                   '.help = "What it is."'):
        assert wanted in source, source


def link_units(folder, unit):
    """Links the tables of a record with a field in this unit to the table of units, as each program does."""
    records = [record(folder, field("t", annotation("Unit", unit), "Length"))]
    (folder / "record").mkdir()
    (folder / "record" / "schema.h").write_text(generate.schema_h(records, [telemetry(folder)], []))
    (folder / "schema.c").write_text(generate.schema_c(records, [telemetry(folder)], []))
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "glib-2.0"], check=True, capture_output=True, text=True)
    return subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-std=gnu17", "-shared", "-fPIC", "-Wl,-z,defs",
                           f"-I{folder}", f"-I{SOURCE}", folder / "schema.c", SOURCE / "record" / "units.c",
                           "-o", folder / "tables.so", *shlex.split(flags.stdout)],
                          capture_output=True, text=True, timeout=60)


def test_a_unit_without_an_entry_fails_the_build(tmp_path):
    (tmp_path / "known").mkdir()
    (tmp_path / "unknown").mkdir()
    known, unknown = link_units(tmp_path / "known", "bits per second"), link_units(tmp_path / "unknown", "furlongs")
    assert known.returncode == 0, known.stderr
    assert unknown.returncode != 0 and "ald_unit_furlongs" in unknown.stderr, unknown.stderr


def test_each_entry_of_the_table_is_a_unit_of_the_xml():
    """So none is left over when the last field of its unit goes, or is misspelt beside the right one."""
    folders = (SOURCE / "dbus-interfaces", SOURCE / "record" / "messages")
    texts = [path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("*.xml*")]
    named = {unit for text in texts for unit in re.findall(r'\.Unit" value="([^"]+)"', text)} - {schema.NO_UNIT}
    entries = dict(re.findall(r'const AldUnit (ald_unit_\w+) = {\s+\.name = "([^"]+)"', read("record/units.c")))
    assert named == set(entries.values())
    assert {generate.unit_symbol(unit) for unit in named} == set(entries)


@pytest.mark.parametrize("name, type, unit, expected", [
    ("FreeBytes", "t", None, "Test.FreeBytes: lacks the Unit of such a name: bytes"),
    ("FreeBytes", "t", "bits per second", "Test.FreeBytes: Unit bits per second: such a name has the unit bytes"),
    ("SeenUSec", "t", "microseconds", "SeenUSec: Unit microseconds: such a name has the unit microseconds since 1970"),
    ("BestTflops", "d", "percent", "BestTflops: Unit percent: such a name has the unit teraflops")])
def test_unit_that_a_name_denies(tmp_path, name, type, unit, expected):
    notes = annotation("Unit", unit) if unit else ""
    with pytest.raises(schema.SchemaError, match=f"{expected}$"):
        record(tmp_path, field(type, notes, name))
    with pytest.raises(schema.SchemaError, match=expected.replace("Test.", "TestRow.") + "$"):
        unit_of_row = annotation(f"Row.{name}.Unit", unit) if unit else ""
        record(tmp_path, field("aa{sv}", row(("Id", "s"), (name, type)) + unit_of_row, "Rows"))


def test_unit_that_a_name_tells(tmp_path):
    """The longest ending counts; a text has none, and a number without one says so."""
    told = record(tmp_path, field("t", annotation("Unit", "bytes per second"), "CopyBytesPerSecond")
                  + field("t", annotation("Unit", "microseconds"), "TimeToLiveUSec") + field("s", "", "LastBytes")
                  + field("t", annotation("Unit", "none"), "Mtu") + field("t", annotation("Unit", "bytes"), "Received"))
    assert [found.unit for found in told.fields] == ["bytes per second", "microseconds", None, None, "bytes"]


@pytest.mark.parametrize("type, notes", [
    ("t", annotation("Metric", "rate")), ("d", annotation("Metric", "counter")),
    ("t", annotation("Metric", "timestamp")), ("x", annotation("Unit", schema.TIMESTAMP)),
    ("s", annotation("Unit", "bytes")), ("t", annotation("Unit", "bit/s"))])
def test_unit_or_metric_that_makes_no_sense(tmp_path, type, notes):
    with pytest.raises(schema.SchemaError, match="Test.Value: "):
        record(tmp_path, field(type, notes))


def test_header_and_tables_follow_the_xml(tmp_path):
    records = [record(tmp_path, field("t", annotation("Threshold", "5%"), "FreePages")
                      + field("s", annotation("Enum", "up down-low"), "State")
                      + field("aa{sv}", row(("Id", "s"), ("Load", "d")), "Rows"))]
    services = [telemetry(tmp_path)]
    header, source = generate.schema_h(records, services, []), generate.schema_c(records, services, [])
    for wanted in ("uint64_t free_pages;", "ALD_TEST_STATE_DOWN_LOW", "double load;", "typedef struct AldTestRow",
                   ".free_pages = ALD_ABSENT_UINT64", ".load = ALD_ABSENT_DOUBLE", "ALD_KIND_TEST,"):
        assert wanted in header
    for wanted in ('"FreePages", .name_length = 9, .type = ALD_TYPE_UINT64', ".threshold = 0.05, .relative = true",
                   '"up", "down-low"', '.mapping = "Tests"', ".rows = &ald_test_row_struct"):
        assert wanted in source
    vtable = generate.vtables_c(records, [], [])
    for wanted in ('"FreePages", "t", NULL', '"Rows", "aa{sv}", ald_record_bus_get_rows', '"Revision", "t"'):
        assert wanted in vtable


def test_page_tells_unit_values_threshold_and_rows(tmp_path):
    page = man.page(record(tmp_path, field("t", annotation("Unit", "bytes") + annotation("Threshold", "5%"))
                           + field("s", annotation("Enum", "up down"), "State")
                           + field("aa{sv}", row(("Id", "s"), ("Load", "d")), "Rows")))
    for wanted in ("Unit: bytes. Changes below 5 % of the value sent before are sent later.",
                   'One of "up", "down".', ".SS Rows of Rows", ".BR Load", ".SH ABSENT VALUES",
                   "org.alidade.Node1.Test \\- words"):
        assert wanted in page


def test_page_tells_arguments_and_errors(tmp_path):
    page = man.page(parse(tmp_path, """<!--
        Rename:
        @Name: the new name,
            on two lines.
        @Effective: what came of it.

        Does it.

        Errors: org.alidade.Error.NoSuchNode.
      --><method name="Rename"><arg name="Name" type="s" direction="in"/>
      <arg name="Effective" type="s" direction="out"/></method>""", "org.alidade.Test1"))
    for wanted in (".SS Rename(in s Name, out s Effective)\nDoes it.\n", ".I Name\nthe new name, on two lines.\n",
                   ".I Effective\nwhat came of it.\n", ".B Errors\norg.alidade.Error.NoSuchNode.\n"):
        assert wanted in page


def test_page_escapes_what_roff_would_obey():
    assert man.text(".so /etc/passwd\n  a-b \\fB") == "\\&.so /etc/passwd a\\-b \\efB"
    assert man.text("'quote") == "\\&'quote"
