# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a user does at the screen: keys, clicks, sizes, minimizing, a look at it and at the clipboard. Talks to the X
server through its own libraries, which every machine with AT-SPI has; there is no window manager, so that nothing else
moves a window."""

import ctypes
from ctypes import POINTER, byref, c_char_p, c_int, c_long, c_uint, c_ulong, c_void_p

import gi

from bedlib import wait_until

gi.require_version("GdkPixbuf", "2.0")

from gi.repository import GdkPixbuf, GLib  # noqa: E402

NONE, REVERT_TO_PARENT, IS_VIEWABLE, Z_PIXMAP = 0, 2, 2, 2
SELECTION_NOTIFY, CURRENT_TIME, ANY_PROPERTY_TYPE = 31, 0, 0
MODIFIERS = {"ctrl": "Control_L", "shift": "Shift_L", "alt": "Alt_L"}
SIGNS = {" ": "space", "-": "minus", ".": "period", "@": "at", ":": "colon", "/": "slash", "+": "plus"}


class Attributes(ctypes.Structure):
    """XWindowAttributes."""

    _fields_ = [(name, kind) for names, kind in (
        ("x y width height border depth", c_int), ("visual", c_void_p), ("root", c_ulong),
        ("klass bit_gravity win_gravity backing_store", c_int), ("backing_planes backing_pixel", c_ulong),
        ("save_under", c_int), ("colormap", c_ulong), ("map_installed map_state", c_int),
        ("all_events your_events do_not_propagate", c_long), ("override_redirect", c_int), ("screen", c_void_p))
        for name in names.split()]


class Image(ctypes.Structure):
    """The beginning of XImage."""

    _fields_ = [("width", c_int), ("height", c_int), ("xoffset", c_int), ("format", c_int), ("data", c_void_p),
                ("byte_order", c_int), ("bitmap_unit", c_int), ("bitmap_bit_order", c_int), ("bitmap_pad", c_int),
                ("depth", c_int), ("bytes_per_line", c_int), ("bits_per_pixel", c_int)]


class SelectionEvent(ctypes.Structure):
    """XSelectionEvent, in the room of an XEvent."""

    _fields_ = [("type", c_int), ("serial", c_ulong), ("send_event", c_int), ("display", c_void_p),
                *((name, c_ulong) for name in ("requestor", "selection", "target", "property", "time")),
                ("rest", c_long * 16)]


def libraries():
    x11, xtest = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libXtst.so.6")
    x11.XOpenDisplay.restype, x11.XOpenDisplay.argtypes = c_void_p, [c_char_p]
    x11.XDefaultRootWindow.restype, x11.XDefaultRootWindow.argtypes = c_ulong, [c_void_p]
    x11.XStringToKeysym.restype = c_ulong
    x11.XKeysymToKeycode.argtypes = [c_void_p, c_ulong]
    x11.XKeycodeToKeysym.restype, x11.XKeycodeToKeysym.argtypes = c_ulong, [c_void_p, c_int, c_int]
    x11.XQueryTree.argtypes = [c_void_p, c_ulong, POINTER(c_ulong), POINTER(c_ulong), POINTER(c_void_p),
                               POINTER(c_uint)]
    x11.XGetWindowAttributes.argtypes = [c_void_p, c_ulong, POINTER(Attributes)]
    x11.XGetImage.restype = POINTER(Image)
    x11.XGetImage.argtypes = [c_void_p, c_ulong, c_int, c_int, c_uint, c_uint, c_ulong, c_int]
    for name, more in {"XSetInputFocus": [c_ulong, c_int, c_ulong], "XUnmapWindow": [c_ulong], "XMapWindow": [c_ulong],
                       "XMoveResizeWindow": [c_ulong, c_int, c_int, c_uint, c_uint], "XSync": [c_int],
                       "XCloseDisplay": [], "XConvertSelection": [c_ulong] * 5, "XDestroyWindow": [c_ulong],
                       "XConnectionNumber": [],
                       "XCheckTypedWindowEvent": [c_ulong, c_int, POINTER(SelectionEvent)]}.items():
        getattr(x11, name).argtypes = [c_void_p, *more]
    x11.XInternAtom.restype, x11.XInternAtom.argtypes = c_ulong, [c_void_p, c_char_p, c_int]
    x11.XCreateSimpleWindow.restype = c_ulong
    x11.XCreateSimpleWindow.argtypes = [c_void_p, c_ulong, c_int, c_int, *[c_uint] * 3, c_ulong, c_ulong]
    x11.XGetWindowProperty.argtypes = [c_void_p, c_ulong, c_ulong, c_long, c_long, c_int, c_ulong, POINTER(c_ulong),
                                       POINTER(c_int), POINTER(c_ulong), POINTER(c_ulong), POINTER(c_void_p)]
    x11.XFree.argtypes = x11.XDestroyImage.argtypes = [c_void_p]
    xtest.XTestFakeKeyEvent.argtypes = xtest.XTestFakeButtonEvent.argtypes = [c_void_p, c_uint, c_int, c_ulong]
    xtest.XTestFakeMotionEvent.argtypes = [c_void_p, c_int, c_int, c_int, c_ulong]
    return x11, xtest


# A window that has gone meanwhile is no reason to end the test run, as Xlib would.
ERROR_HANDLER = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)(lambda _display, _event: 0)


class Screen:
    def __init__(self, name):
        self.x11, self.xtest = libraries()
        self.x11.XSetErrorHandler(ERROR_HANDLER)
        self.display = self.x11.XOpenDisplay(name.encode())
        if not self.display:
            raise OSError(f"the X server at {name} does not answer")
        self.root = self.x11.XDefaultRootWindow(self.display)

    def close(self):
        self.x11.XCloseDisplay(self.display)

    def sync(self):
        """The server has done all of it when this returns."""
        self.x11.XSync(self.display, 0)

    # Windows

    def attributes(self, window):
        found = Attributes()
        return found if self.x11.XGetWindowAttributes(self.display, window, byref(found)) else None

    def _seen(self):
        """Windows with their attributes; the topmost is the last."""
        root, parent, children, n = c_ulong(), c_ulong(), c_void_p(), c_uint()
        if not self.x11.XQueryTree(self.display, self.root, byref(root), byref(parent), byref(children), byref(n)):
            return []
        every = (c_ulong * n.value).from_address(children.value)[:] if n.value else []
        if children.value:
            self.x11.XFree(children)
        found = [(window, self.attributes(window)) for window in every]
        return [(window, of) for window, of in found if of and of.map_state == IS_VIEWABLE and of.width > 1]

    def windows(self):
        """Those that are seen, menus left out; the topmost is the last."""
        return [window for window, of in self._seen() if not of.override_redirect]

    def popups(self):
        """Menus and tooltips that are seen."""
        return [window for window, of in self._seen() if of.override_redirect]

    def focus(self, window):
        self.x11.XSetInputFocus(self.display, window, REVERT_TO_PARENT, 0)
        self.sync()

    def resize(self, window, width, height):
        self.x11.XMoveResizeWindow(self.display, window, 0, 0, width, height)
        self.sync()

    def minimize(self, window):
        """As a window manager does it."""
        self.x11.XUnmapWindow(self.display, window)
        self.sync()

    def restore(self, window):
        self.x11.XMapWindow(self.display, window)
        self.sync()

    # The keyboard

    def _code(self, keysym):
        """The code of a key, and whether it is the upper of its signs."""
        code = self.x11.XKeysymToKeycode(self.display, keysym) & 0xff
        if not code:
            raise LookupError(f"no key has the sign {keysym:#x}")
        return code, self.x11.XKeycodeToKeysym(self.display, code, 0) != keysym

    def key(self, combination):
        """key("ctrl+shift+a"), key("Escape"), key("alt+2")"""
        *modifiers, name = combination.split("+")
        keysym = self.x11.XStringToKeysym(name.encode())
        code, upper = self._code(keysym)
        held = [self._code(self.x11.XStringToKeysym(MODIFIERS[modifier].encode()))[0]
                for modifier in [*modifiers, *(["shift"] if upper else [])]]
        for pressed, keys in ((1, [*held, code]), (0, [code, *reversed(held)])):
            for number in keys:
                self.xtest.XTestFakeKeyEvent(self.display, number, pressed, 0)
        self.sync()

    def type(self, text):
        for sign in text:
            self.key(SIGNS.get(sign, sign))

    # The pointer

    def point(self, x, y):
        """At this place of the screen."""
        self.xtest.XTestFakeMotionEvent(self.display, -1, x, y, 0)
        self.sync()

    def point_at(self, x, y):
        """A place of the screen; what lies beyond it is its last corner."""
        self.xtest.XTestFakeMotionEvent(self.display, -1, x, y, 0)
        self.sync()

    def put_pointer_aside(self):
        """Where no window is, so that it points at nothing."""
        self.point_at(32000, 32000)

    def button(self, button, pressed):
        self.xtest.XTestFakeButtonEvent(self.display, button, pressed, 0)
        self.sync()

    # The clipboard

    def _atom(self, name):
        return self.x11.XInternAtom(self.display, name.encode(), 0)

    def _property(self, window, atom):
        kind, form, n, rest, data = c_ulong(), c_int(), c_ulong(), c_ulong(), c_void_p()
        self.x11.XGetWindowProperty(self.display, window, atom, 0, 2 ** 20, 0, ANY_PROPERTY_TYPE, byref(kind),
                                    byref(form), byref(n), byref(rest), byref(data))
        found = ctypes.string_at(data.value, n.value) if data.value else b""
        if data.value:
            self.x11.XFree(data)
        return found

    def clipboard(self):
        """The text there, as the program that has it gives it out; None if none has any."""
        window = self.x11.XCreateSimpleWindow(self.display, self.root, 0, 0, 1, 1, 0, 0, 0)
        event = SelectionEvent()
        self.x11.XConvertSelection(self.display, self._atom("CLIPBOARD"), self._atom("UTF8_STRING"),
                                   self._atom("ALIDADE_TEST"), window, CURRENT_TIME)
        self.sync()
        try:
            wait_until(lambda: self.x11.XCheckTypedWindowEvent(self.display, window, SELECTION_NOTIFY, byref(event)),
                       "the clipboard", fds=[self.x11.XConnectionNumber(self.display)])
            return self._property(window, event.property).decode() if event.property else None
        finally:
            self.x11.XDestroyWindow(self.display, window)

    # What is seen

    def picture(self, window=None):
        """A GdkPixbuf of what is in the place of a window, menus above it too, or of all."""
        place = self.attributes(window or self.root)
        image = self.x11.XGetImage(self.display, self.root, place.x, place.y, place.width, place.height,
                                   c_ulong(-1).value, Z_PIXMAP)
        if not image:
            raise OSError("the X server gives no picture of the window")
        found = image.contents
        data = ctypes.string_at(found.data, found.bytes_per_line * found.height)
        colours = bytearray(found.width * found.height * 3)
        for colour in range(3):
            colours[colour::3] = data[2 - colour::4]
        width, height = found.width, found.height
        self.x11.XDestroyImage(image)
        return GdkPixbuf.Pixbuf.new_from_bytes(GLib.Bytes.new(bytes(colours)), GdkPixbuf.Colorspace.RGB, False, 8,
                                               width, height, width * 3)
