# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the XML of Alidade: interfaces and messages with their documentation, and the fields of the records among them.

A message is a record that passes between processes of ours and that no bus exports, such as the result of a probe. It
is described like an interface, in record/messages/, and its name begins with org.alidade.Message1.
"""

import copy
import functools
import math
import re
import xml.etree.ElementTree as ET
from pathlib import Path

# The table of units, which lists what names of fields in each unit end in.
UNITS = Path(__file__).parent.parent / "record" / "units.c"
UNIT_ENTRY = re.compile(r'\.name = "([^"]+)",\s+\.endings = {([^}]+)}')
# The Unit of a number that has none, although its name ends like those in a unit.
NO_UNIT = "none"
# What a constant in C may be, as the greatest numbers stand for absent values.
INTEGERS = {"t": range(2 ** 63), "x": range(1 - 2 ** 63, 2 ** 63 - 1)}

PREFIX = "org.alidade."
# Annotations lie flat on the property, since gdbus-codegen does not take one within another.
ROW = PREFIX + "Row"
MESSAGE = "Message1."
# Every record interface has these two; they belong to the envelope of a record, not to its fields.
ENVELOPE = ("Revision", "UpdatedUSec")
FIELD_TYPES = ("s", "t", "x", "d", "b", "as", "aa{sv}")
# Rows of a method that begin with fields which each of them has, and hold the others as a{sv}.
STRUCT_ROWS = re.compile(r"a\(([stxdb]+)a\{sv\}\)$")
# An argument that is one row.
ROW_ALONE = "a{sv}"
# Numbers by name, in such an argument only.
NUMBERS = "a{st}"
SENTENCE_ENDS = re.compile(r"(?<=\.) (?=[A-Z\"]|alidade-)")
NUMBER = r"\d+(?:\.\d+)?"
THRESHOLD = re.compile(rf"(?P<number>{NUMBER})$|(?:(?P<least>{NUMBER}),)?(?P<share>{NUMBER})%(?:,(?P<most>{NUMBER}))?$")
EMITS_CHANGE = "org.freedesktop.DBus.Property.EmitsChangedSignal"
METRICS = ("counter", "none")
# Of a time by CLOCK_REALTIME. As a metric it is a timestamp, unless an annotation says otherwise.
TIMESTAMP = "microseconds since 1970"
RECORDS = ("Node1.", "Link1.")
# What the interface of each record states.
RECORD_FACTS = ("Mapping", "Source", "Pace", "SentTo")
SENT_TO = ("nobody", "mirrors", "peers")
PACES = ("continuous", "occasional")
TIME_TO_LIVE = re.compile(r"(\d+)(min|h)$")
# It makes its records itself, and reads those of all other sources.
STATE = "State1"
# The two directions of a link, as the names of fields have them: the first, with its facts, before the second.
DIRECTIONS = ("Upload", "Download")


class SchemaError(Exception):
    pass


class Field:
    """A property of a record interface, or a field of one of its rows."""

    def __init__(self, where, name, type, doc):
        self.where, self.name, self.type, self.doc = where, name, type, doc
        self.unit, self.unit_is_given = None, False
        self.enum = []
        self.threshold, self.relative, self.threshold_min, self.threshold_max = 0.0, False, 0.0, 0.0
        self.required, self.minimum, self.maximum, self.is_id = False, None, None, False
        self.default = None
        self.metric = None
        self.silent = False  # PropertiesChanged does not announce it
        self.computed = False
        self.row = None
        self.row_fields = []
        self.direction = None  # name of the struct that holds what each direction of a link has
        self.row_directions = None  # of the rows
        self.fixed = ""  # types of the leading fields that each row has
        struct = STRUCT_ROWS.match(type)
        if struct:
            self.type, self.fixed = "aa{sv}", struct[1]
        elif type == ROW_ALONE:
            self.type = "aa{sv}"
        elif type not in (*FIELD_TYPES, NUMBERS):
            raise SchemaError(f"{where}.{name}: type {type} is none of {' '.join(FIELD_TYPES)}")

    def annotate(self, name, value):
        if name == "Unit":
            self.read_unit(value)
        elif name == "Enum":
            if self.type not in ("s", "as"):
                raise SchemaError(f"{self.where}.{self.name}: an Enum must be of type s or as")
            self.enum = value.split()
        elif name == "Threshold":
            if self.type not in ("t", "x", "d"):
                raise SchemaError(f"{self.where}.{self.name}: only numbers have a Threshold")
            self.read_threshold(value)
        elif name == "Required":
            if value != "true" or self.type == "aa{sv}":
                raise SchemaError(f"{self.where}.{self.name}: only true can be Required, and never rows")
            self.required = True
        elif name in ("Minimum", "Maximum"):
            self.read_limit(name, value)
        elif name == "Format":
            if self.type not in ("s", "as") or value != "id":
                raise SchemaError(f"{self.where}.{self.name}: the only Format is id, of type s or as")
            self.is_id = True
        elif name == "Metric":
            self.read_metric(value)
        elif name == "Default":
            self.read_default(value)
        elif name == "Computed":
            self.computed = value == "true"
        elif name == "Directions":
            self.row_directions = value
        else:
            raise SchemaError(f"{self.where}.{self.name}: unknown annotation {PREFIX}{name}")

    def read_unit(self, value):
        if not re.fullmatch(r"[a-z0-9]+( [a-z0-9]+)*", value):
            raise SchemaError(f"{self.where}.{self.name}: Unit {value} is not of words in lower case")
        if self.type not in ("t", "x", "d"):
            raise SchemaError(f"{self.where}.{self.name}: only numbers have a Unit")
        if value == TIMESTAMP and self.type != "t":
            raise SchemaError(f"{self.where}.{self.name}: a time is of type t")
        self.unit, self.unit_is_given = value if value != NO_UNIT else None, True
        if value == TIMESTAMP and not self.metric:
            self.metric = "timestamp"

    def check_unit(self):
        """Readers of JSON, and of another version, know a unit by the end of the name alone."""
        told = unit_of_name(self.name) if self.type in ("t", "x", "d") else None
        if told and not self.unit_is_given:
            raise SchemaError(f"{self.where}.{self.name}: lacks the Unit of such a name: {told}")
        if told and self.unit not in (told, None):
            raise SchemaError(f"{self.where}.{self.name}: Unit {self.unit}: such a name has the unit {told}")

    def read_metric(self, value):
        if value not in METRICS:
            raise SchemaError(f"{self.where}.{self.name}: Metric {value} is none of {' '.join(METRICS)}")
        if value == "counter" and self.type != "t":
            raise SchemaError(f"{self.where}.{self.name}: only a t counts")
        self.metric = value

    def read_default(self, value):
        """As it stands in C."""
        if self.type not in ("t", "x", "d", "b"):
            raise SchemaError(f"{self.where}.{self.name}: only numbers and booleans have a Default")
        try:
            number = (("false", "true").index(value) if self.type == "b" else
                      finite(value) if self.type == "d" else int(value))
            if self.type in INTEGERS and number not in INTEGERS[self.type]:
                raise ValueError(f"out of the range of type {self.type}")
        except ValueError as error:
            raise SchemaError(f"{self.where}.{self.name}: Default {value}: {error}") from error
        self.default = str(number)

    def read_limit(self, name, value):
        """Of strings and rows the Maximum is their number."""
        if self.type not in ("t", "x", "d") and (self.type not in ("as", "aa{sv}") or name != "Maximum"):
            raise SchemaError(f"{self.where}.{self.name}: only numbers have a {name}")
        try:
            setattr(self, name.lower(), finite(value))
        except ValueError as error:
            raise SchemaError(f"{self.where}.{self.name}: {name} {value}: {error}") from error

    def read_threshold(self, value):
        """A number, or a share as in "0.5%" that bounds may surround: "0.1,10%" is never below 0.1, "0.5%,1024" never
        above 1024."""
        found = THRESHOLD.match(value)
        if not found:
            raise SchemaError(f"{self.where}.{self.name}: Threshold {value} is neither a number, such as 5, "
                              "nor a share, such as 5%")
        number, least, share, most = (float(part or 0) for part in found.groups())
        self.relative = found["share"] is not None
        self.threshold = share / 100 if self.relative else number
        self.threshold_min, self.threshold_max = least, most
        if (found["least"] and least == 0) or (found["most"] and most <= least):
            raise SchemaError(f"{self.where}.{self.name}: Threshold {value}: a bound is 0, or they cross")

    @property
    def words(self):
        return snake(self.name)

    @property
    def side(self):
        """In which of the two directions it is: "upload" or "download"; None if that is not for its struct to tell."""
        return next((word.lower() for word in DIRECTIONS if self.direction and word in self.name), None)

    @property
    def member(self):
        """Where its struct has it: "upload.spot_bits_per_second" is SpotUploadBitsPerSecond."""
        return f"{self.side}.{self.direction_member}" if self.side else self.words

    @property
    def direction_member(self):
        return snake(re.sub("|".join(DIRECTIONS), "", self.name, count=1))

    @property
    def help(self):
        return first_sentence(self.doc)


class Member:
    """A method, signal or property, with its documentation."""

    def __init__(self, element, doc):
        self.element, self.doc = element, doc
        self.name = element.get("name")
        for note in element.iter("annotation"):
            if not note.get("name", "").startswith(PREFIX) and note.get("name") != EMITS_CHANGE:
                raise SchemaError(f"{self.name}: unknown annotation {note.get('name')}")
        # Of a method, or of a property that is not part of a record.
        holders = [holder for holder in element.iter() if any(child.get("name") == ROW for child in holder)]
        self.rows = [read_field(self.name, holder, holder.get("type"), "") for holder in holders]

        for option in [sub for row, holder in zip(self.rows, holders) for sub in row.row_fields
                       if holder.get("type") == ROW_ALONE and holder.get("direction") == "in"]:
            if option.type == "b" and option.default is None:
                raise SchemaError(f"{self.name}: {option.where}.{option.name}: a boolean option lacks a Default")

    @property
    def emits_change(self):
        """Of a property, what its annotation EmitsChangedSignal says: true, const or false."""
        values = [child.get("value") for child in self.element if child.get("name") == EMITS_CHANGE]
        return values[0] if values else "true"


class Interface:
    def __init__(self, path, element, doc):
        self.path, self.element, self.doc = path, element, doc
        self.name = element.get("name")
        if not self.name.startswith(PREFIX):
            raise SchemaError(f"{path}: {self.name} does not begin with {PREFIX}")
        self.mapping, self.source, self.pace, self.sent_to = None, None, None, None
        self.persistent, self.tolerant = False, False
        self.daemon, self.optional = None, False
        self.members, self.fields = [], []
        self.rows = []  # a Field for each argument of a method that is a list of described rows
        self.properties = None  # name of a struct of the properties of a service, which fills it in
        self.directions, self.base = None, None  # names of structs that it may share with other interfaces
        self._read_members()
        if self.is_record:
            self._check_record()
        if self.is_record or self.is_message:
            self._read_fields()
        elif self.properties:
            self._read_properties()

    @property
    def kind(self):
        return self.name[len(PREFIX):]

    @property
    def is_record(self):
        return self.kind.startswith(RECORDS)

    @property
    def is_message(self):
        return self.kind.startswith(MESSAGE)

    @property
    def is_link(self):
        return self.kind.startswith("Link1.")

    @property
    def is_local(self):
        return self.sent_to == "nobody"

    @property
    def qos(self):
        """What comes often anyway is not worth an acknowledgement."""
        return 0 if self.pace == "continuous" else 1

    @property
    def ttl_usec(self):
        """0: it is not measured again after some time."""
        found = TIME_TO_LIVE.match(self.pace)
        return int(found[1]) * {"min": 60, "h": 3600}[found[2]] * 1000000 if found else 0

    @property
    def struct(self):
        scope, _, rest = self.kind.partition(".")
        return self.properties or ("Link" if scope == "Link1" else "") + rest.replace(".", "")

    @property
    def symbol(self):
        return snake(self.struct)

    @property
    def help(self):
        return first_sentence(self.doc)

    def _read_members(self):
        for doc, child in documented(self.element):
            name = child.get("name", "")
            if child.tag == "annotation":
                self._annotate(name, child.get("value"))
            else:
                self.members.append(Member(child, doc))
                self.rows += self.members[-1].rows

    def _annotate(self, name, value):
        fact = name[len(PREFIX):] if name.startswith(PREFIX) else None
        if fact in RECORD_FACTS and self.is_record:
            setattr(self, snake(fact), value)
        elif fact == "Persistent" and self.is_record:
            self.persistent = value == "true"
        elif fact == "Base" and self.is_record:
            self.base = value
        elif fact == "Directions" and (self.is_record or self.is_message):
            self.directions = value
        elif fact == "Tolerant" and self.is_message:
            self.tolerant = value == "true"
        elif fact in ("Properties", "Daemon") and not self.is_record and not self.is_message:
            setattr(self, snake(fact), value)
        elif fact == "Optional" and self.daemon:
            self.optional = value == "true"
        else:
            raise SchemaError(f"{self.path}: unknown annotation {name}")

    def _check_record(self):
        for fact in RECORD_FACTS:
            if getattr(self, snake(fact)) is None:
                raise SchemaError(f"{self.path}: lacks the annotation {PREFIX}{fact}")
        if self.sent_to not in SENT_TO:
            raise SchemaError(f"{self.path}: SentTo {self.sent_to} is none of {' '.join(SENT_TO)}")
        if self.is_local and self.source != STATE:
            raise SchemaError(f"{self.path}: SentTo {self.sent_to}: only {STATE} makes records that are not sent")
        if self.is_link and self.sent_to == "peers":
            raise SchemaError(f"{self.path}: SentTo peers: nodes that mirror nothing receive no links")
        if self.pace not in PACES and not TIME_TO_LIVE.match(self.pace):
            raise SchemaError(f"{self.path}: Pace {self.pace} is none of {' '.join(PACES)}, nor a time such as 5min")

    def _read_fields(self):
        if self.directions:
            self._describe_downloads()
        for member in self.members:
            if member.name in ENVELOPE:
                continue
            if member.element.tag != "property":
                raise SchemaError(f"{self.path}: {member.name}: a record interface has properties only")
            self.fields.append(read_field(self.struct, member.element, member.element.get("type"), member.doc, True))
            self.fields[-1].direction = self.directions
            # Rows that are not exported have no field that is.
            for sub in self.fields[-1].row_fields if self.fields[-1].metric == "none" else []:
                sub.metric = "none"
        if any(len(fields) > 64 for fields in [self.fields, *(field.row_fields for field in self.fields)]):
            raise SchemaError(f"{self.path}: more than 64 fields")
        self._check_limits()
        for field in self.fields:
            if self.is_record and field.row and not field.name.endswith("s"):
                raise SchemaError(f"{self.path}: {field.name}: the name of a list of rows must end in s, as metrics "
                                  "name one row without it")
        missing = set(ENVELOPE) - {m.name for m in self.members}
        if missing and self.is_record:
            raise SchemaError(f"{self.path}: lacks {' '.join(sorted(missing))}")

    def _describe_downloads(self):
        """What is said of an upload holds for the download after it, too."""
        for i in uploads(self.path, [(member.name, member.element.get("type")) for member in self.members]):
            member, download = self.members[i:i + 2]
            if download.doc or len(download.element):
                raise SchemaError(f"{self.path}: {download.name}: is described with {member.name}")
            download.doc = member.doc
            download.element.extend(member.element)

    def _read_properties(self):
        """Those of a type that a struct can hold; rows have structs of their own."""
        for member in self.members:
            if member.element.tag == "property" and not member.rows and member.element.get("type") in FIELD_TYPES:
                field = read_field(self.struct, member.element, member.element.get("type"), member.doc)
                field.silent = member.emits_change == "false"
                if field.computed and not field.silent:
                    raise SchemaError(f"{self.path}: {field.name}: a property that is Computed emits no change")
                if not field.computed:
                    self.fields.append(field)

    def _check_limits(self):
        """A record of a newer peer must not be refused for what this version does not expect. Rows beyond their Maximum
        are dropped, which refuses nothing."""
        for field in [sub for field in self.fields for sub in (field, *field.row_fields)]:
            if field.default or field.type == NUMBERS or (field.type == "as" and (field.enum or field.is_id)):
                raise SchemaError(f"{self.path}: {field.name}: only options of a method are like this")
            if self.is_message:
                continue
            limited = field.maximum is not None and field.type != "aa{sv}"
            if field.required or field.is_id or field.minimum is not None or limited:
                raise SchemaError(f"{self.path}: {field.name}: only fields of messages are checked")


def snake(name):
    name = name.replace("USec", "Usec").replace("NSec", "Nsec")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


@functools.cache
def unit_endings():
    """{what names of fields in a unit end in: this unit}, by the table of units."""
    return {ending: unit for unit, endings in UNIT_ENTRY.findall(UNITS.read_text(encoding="utf-8"))
            for ending in re.findall(r'"(\w+)"', endings)}


def unit_of_name(name):
    """As ald_unit_of_name() tells it: by the longest ending that the table has."""
    fitting = [ending for ending in unit_endings() if name.endswith(ending)]
    return unit_endings()[max(fitting, key=len)] if fitting else None


def finite(text):
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("not finite")
    return number


def first_sentence(doc):
    """Of a documentation, on one line."""
    return SENTENCE_ENDS.split(" ".join(doc.split()))[0]


def documented(element):
    """Yields (documentation, child) for each child element: the comment right before it."""
    doc = ""
    for child in element:
        if child.tag is ET.Comment:
            doc = child.text
        else:
            yield strip_name(doc, child.get("name", "")), child
            doc = ""


def strip_name(doc, name):
    """Drops the leading "Name:", whole or its last part, and the common indentation of a comment."""
    text = "\n".join(line.strip() for line in doc.strip().splitlines())
    for lead in (name, name.rpartition(".")[2]):
        if lead and text.startswith(lead + ":"):
            return text[len(lead) + 1:].strip()
    return text


def read_field(where, element, type, doc, keyed=False):
    field = Field(where, element.get("name"), type, doc)
    for row_doc, child in documented(element):
        name, value = child.get("name"), child.get("value")
        if name == ROW:
            field.row = value
        elif name.startswith(ROW + "."):
            read_row_annotation(field, name[len(ROW) + 1:], value, row_doc)
        elif name.startswith(PREFIX):
            field.annotate(name[len(PREFIX):], value)
    if field.row_directions:
        describe_downloads(field)
    for sub in field.row_fields:
        sub.direction = field.row_directions
        sub.check_unit()
    field.check_unit()
    check_rows(field, type, keyed)
    return field


def uploads(where, members):
    """The places of what an upload has among members, given by name and type; right after each the download has it."""
    upload, download = DIRECTIONS
    for i, (name, type) in enumerate(members):
        if upload in name:
            if members[i + 1:i + 2] != [(name.replace(upload, download), type)]:
                raise SchemaError(f"{where}: {name}: its {download} of the same type does not follow")
            yield i
        elif download in name and (i == 0 or upload not in members[i - 1][0]):
            raise SchemaError(f"{where}: {name}: its {upload} is not before it")


def describe_downloads(field):
    """Does for rows what Interface._describe_downloads() does for an interface."""
    for i in uploads(f"{field.where}.{field.name}", [(sub.name, sub.type) for sub in field.row_fields]):
        told, download = field.row_fields[i:i + 2]
        if vars(download) != vars(Field(field.row, download.name, download.type, "")):
            raise SchemaError(f"{field.where}.{field.name}: {download.name}: is described with {told.name}")
        field.row_fields[i + 1] = copy.copy(told)
        field.row_fields[i + 1].name = download.name


def read_row_annotation(field, name, value, doc):
    """org.alidade.Row.NAME is a field of the row; org.alidade.Row.NAME.FACT after it tells a fact about it."""
    name, _, fact = name.partition(".")
    if not fact:
        field.row_fields.append(Field(field.row, name, value, doc))
    elif field.row_fields and field.row_fields[-1].name == name:
        field.row_fields[-1].annotate(fact, value)
    else:
        raise SchemaError(f"{field.where}.{field.name}: {ROW}.{name}.{fact} does not follow {ROW}.{name}")


def check_rows(field, type, keyed):
    where = f"{field.where}.{field.name}"
    if not (field.type == "aa{sv}") == bool(field.row) == bool(field.row_fields):
        raise SchemaError(f"{where}: type aa{{sv}}, a Row annotation and the fields of the row go together")
    if keyed and field.row and (field.row_fields[0].name, field.row_fields[0].type) != ("Id", "s"):
        raise SchemaError(f"{where}: the first field of a row is Id, of type s")
    if keyed and type == ROW_ALONE:
        raise SchemaError(f"{where}: a record has lists of rows only")
    if keyed and field.fixed:
        raise SchemaError(f"{where}: the rows of a record are of type a{{sv}}")
    if field.fixed != "".join(sub.type for sub in field.row_fields[:len(field.fixed)]):
        raise SchemaError(f"{where}: the first fields of a row have other types than its struct")
    if any(sub.type == "aa{sv}" for sub in field.row_fields):
        raise SchemaError(f"{where}: a row has no rows")


def load(path):
    """The interfaces of one XML file."""
    parser = ET.XMLParser(target=ET.TreeBuilder(insert_comments=True))
    try:
        root = ET.parse(path, parser).getroot()
    except ET.ParseError as error:
        raise SchemaError(f"{path}: {error}") from error
    return [Interface(path, element, doc) for doc, element in documented(root) if element.tag == "interface"]


def load_all(paths):
    return [interface for path in paths for interface in load(path)]


def sources(records, services):
    """The services that measure this node, each with the kinds of records of nodes that it sends; those of links are on
    objects of their own."""
    found = {service.kind: (service, []) for service in services if service.daemon}
    for record in records:
        if record.source in found and not record.is_link:
            found[record.source][1].append(record)
        elif record.source not in found and record.source != STATE:
            raise SchemaError(f"{record.path}: Source {record.source} is no interface with the annotation "
                              f"{PREFIX}Daemon")
    return list(found.values())
