# SPDX-License-Identifier: LGPL-2.1-or-later
"""A link-probe service played by the test: jobs that go as the test says, and locks that it watches."""

import os

from gi.repository import Gio, GLib

from bedlib import StandIn, interface_xml, wait_until
from played_state import fields

NAME = "org.alidade.LinkProbe1"
PATH = "/org/alidade/LinkProbe1"
JOB = "org.alidade.LinkProbe1.Job"
JOB_PATH = f"{PATH}/job/1"

PROPERTIES = {"Probing": False, "ActiveProbes": 0, "Port": 7461, "Problem": "", "Inhibited": [], "RefusedSessions": 0,
              "RefusedSignals": 0}
FRESH_JOB = {"Node": "", "Address": "", "Device": "", "Kind": "Link1.Socket", "State": "waiting", "Phase": "",
             "Progress": 0.0, "Error": "", "Result": {}, "Paths": []}


class Locks(StandIn):
    """Answers Inhibit() with the write end of a pipe, as no other StandIn can. A method in .late is answered by
    answer()."""

    def __init__(self, *args, **options):
        self.held, self.late, self.waiting = [], set(), []
        super().__init__(*args, **options)

    def answer(self):
        self.late.clear()
        for call in self.waiting:
            self._called(*call)

    def _called(self, connection, sender, path, interface, method, arguments, invocation):
        if method in self.late:
            self.waiting.append((connection, sender, path, interface, method, arguments, invocation))
            return
        if method != "Inhibit" or method in self.handlers:
            super()._called(connection, sender, path, interface, method, arguments, invocation)
            return
        ours, theirs = os.pipe()
        os.set_blocking(ours, False)
        self.held.append((ours, *arguments.unpack()))
        descriptors = Gio.UnixFDList.new()
        handle = descriptors.append(theirs)
        os.close(theirs)
        invocation.return_value_with_unix_fd_list(GLib.Variant("(h)", (handle,)), descriptors)


class PlayedLinkProbe:
    """handlers may be changed; by default a job is made, and Cancel ends it. tell() changes it."""

    def __init__(self, connection, inhibitors=()):
        self.connection = connection
        self.inhibitors = list(inhibitors)
        self.handlers = {"ProbeLink": self._probe, "ProbeRdma": self._probe_rdma, "ProbeCompute": self._probe_compute,
                         "ProbeStorage": self._probe_storage, "ListInhibitors": lambda: (self.inhibitors,)}
        self.service = Locks(connection, PATH, interface_xml(NAME), {NAME: PROPERTIES}, self.handlers)
        self.job_handlers = {"Cancel": lambda: self.tell(State="canceled")}
        self.job = None

    def own(self):
        self.connection.own(NAME)
        return self

    def disown(self):
        self.connection.call_bus("ReleaseName", "s", (NAME,))

    def _probe(self, node, options):
        values = {JOB: {**FRESH_JOB, "Node": node, "Address": options.get("Address", "")}}
        self.job = StandIn(self.connection, JOB_PATH, interface_xml(JOB), values, self.job_handlers)
        return (JOB_PATH,)

    def _probe_rdma(self, node, options):
        found = self._probe(node, {})
        self.tell(Kind="Link1.Rdma", Device=options.get("Port", ""))
        return found

    def _probe_compute(self, device, _options):
        found = self._probe("", {})
        self.tell(Kind="Node1.Compute", Device=device)
        return found

    def _probe_storage(self, file_system, _options):
        found = self._probe("", {})
        self.tell(Kind="Node1.Storage", Device=file_system)
        return found

    def calls(self, method):
        played = [self.service, *([self.job] if self.job else [])]
        return [call for one in played for call in one.calls if call.method == method]

    def wait_for_job(self):
        wait_until(lambda: self.job, "a job")
        return self.job

    def tell(self, **values):
        if "Result" in values:
            values["Result"] = fields(values["Result"])
        if "Paths" in values:
            values["Paths"] = [fields(path) for path in values["Paths"]]
        self.job.change(JOB, **values)

    @property
    def locks(self):
        return self.service.held

    def is_held(self, lock=0):
        try:
            return os.read(self.locks[lock][0], 1) != b""
        except BlockingIOError:
            return True

    def wait_released(self, lock=0):
        """The bus may keep its copy of a lock for a moment longer than the client."""
        wait_until(lambda: not self.is_held(lock), "the end of the lock", fds=[self.locks[lock][0]])

    def close(self):
        for lock in self.locks:
            os.close(lock[0])
        self.service.close()
        if self.job:
            self.job.close()
