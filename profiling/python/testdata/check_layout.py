"""Compares offsets of members with the interpreter that runs this.

Without arguments, prints the version (sys.hexversion) and the first bytes of
_PyRuntime. With the offsets of InterpreterLayout, in its order and -1 for none,
prints "as it is" or which are wrong.
"""

import ctypes
import sys
import threading


def read(address, size):
    return int.from_bytes(ctypes.string_at(address, size), sys.byteorder)


def word(address):
    return read(address, 8)


def print_facts():
    runtime = ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime")
    content = ctypes.string_at(ctypes.addressof(runtime), 512)
    print(sys.hexversion, content.hex(), end="")


class Checker:

    def __init__(self, offsets):
        (self.thread_id, self.thread_frame, self.thread_c_frame,
         self.c_frame_frame, self.c_frame_previous, self.frame_code,
         self.frame_previous, self.frame_instruction, self.frame_owner,
         self.frame_is_entry, self.first_line, self.file_name, self.name,
         self.line_table, self.instructions, self.str_ascii,
         self.str_compact) = offsets
        self.wrong = []

    def expect(self, is_right, name):
        if not is_right:
            self.wrong.append(name)

    def check_code(self, code):
        at = id(code)
        self.expect(read(at + self.first_line, 4) == code.co_firstlineno,
                    "first line")
        self.expect(word(at + self.file_name) == id(code.co_filename), "file")
        self.expect(word(at + self.name) == id(code.co_qualname), "name")
        self.expect(word(at + self.line_table) == id(code.co_linetable),
                    "line table")
        self.expect(word(id(code) + 8) == id(type(code)), "type")
        table = code.co_linetable
        self.expect(word(id(table) + 16) == len(table), "size of bytes")
        self.expect(ctypes.string_at(id(table) + 32, len(table)) == table,
                    "content of bytes")

    def check_str(self, text, kind, is_ascii):
        at = id(text)
        state = read(at + 32, 4)
        self.expect(state >> 2 & 7 == kind, "kind of str")
        self.expect(state >> 5 & 1 == 1, "compact str")
        self.expect(state >> 6 & 1 == is_ascii, "ascii str")
        self.expect(word(at + 16) == len(text), "length of str")
        encoding = {1: "latin-1", 2: "utf-16-le", 4: "utf-32-le"}[kind]
        content = text.encode(encoding)
        begin = at + (self.str_ascii if is_ascii else self.str_compact)
        self.expect(ctypes.string_at(begin, len(content)) == content,
                    "content of str")

    def frame_of_thread(self, thread):
        if self.thread_c_frame < 0:
            return word(thread + self.thread_frame)
        return word(word(thread + self.thread_c_frame) + self.c_frame_frame)

    def check_frames(self, thread):
        """The callers' frames, which stand still meanwhile."""
        python_frames = []
        frame = sys._getframe(1)
        while frame is not None:
            python_frames.append(frame)
            frame = frame.f_back
        # The innermost is the reading function's own.
        at = self.frame_of_thread(thread)
        entries = 0
        found = []
        while at != 0 and len(found) < 100:
            code = word(at + self.frame_code) & ~3
            if self.frame_is_entry < 0 and read(at + self.frame_owner, 1) == 3:
                entries += 1
            else:
                instruction = word(at + self.frame_instruction)
                found.append((code, instruction - code - self.instructions))
                if self.frame_is_entry >= 0:
                    entries += read(at + self.frame_is_entry, 1)
            at = word(at + self.frame_previous)
        expected = [(id(f.f_code), f.f_lasti) for f in python_frames]
        self.expect(found[-len(expected):] == expected, "frames")
        # One of the script, one below len().
        self.expect(entries == 2, "entries")

    def check_c_frames(self, thread):
        if self.thread_c_frame < 0:
            return
        count = 0
        at = word(thread + self.thread_c_frame)
        while at != 0 and count < 100:
            count += 1
            at = word(at + self.c_frame_previous)
        # Two that evaluate, and the thread's own.
        self.expect(count == 3, "evaluating functions")

    def __len__(self):
        state = ctypes.pythonapi.PyThreadState_Get
        state.restype = ctypes.c_void_p
        thread = state()
        self.expect(word(thread + self.thread_id) == threading.get_ident(),
                    "thread")
        self.check_frames(thread)
        self.check_c_frames(thread)
        return 1


def check(offsets):
    checker = Checker(offsets)
    checker.check_code(check.__code__)
    checker.check_code(Checker.check_frames.__code__)
    checker.check_str("ascii", 1, True)
    checker.check_str("caf\xe9", 1, False)
    checker.check_str("\u20ac", 2, False)
    checker.check_str("\U0001f600", 4, False)
    len(checker)
    print("wrong: " + ", ".join(checker.wrong) if checker.wrong else "as it is")


if len(sys.argv) == 1:
    print_facts()
else:
    check([int(offset) for offset in sys.argv[1:]])
