#!/usr/bin/env python3
"""Prints line tables with the lines that the interpreter itself finds in them.

    for python in python3.11 python3.12 python3.13 python3.14; do
      $python make_python_lines.py
    done > python_lines.txt

A line a code object: version, name, first line, the table in hexadecimal digits
("-" if it is empty), and the line of each code unit, 0 for none.
"""

import sys
import types

SOURCE = '''
import os

class Model:
    """A class body, a decorator, a nested function."""
    size = 3

    @property
    def rows(self):
        return [
            x * y
            for x in range(self.size)

            for y in (
                1, 2,
                3)
        ]

    def fit(self, data, *, rate=0.5):
        try:
            for i, row in enumerate(data):
                if not row: continue
                total = (rate *
                         sum(row)
                         + i)
        except (ValueError,
                TypeError) as error:
            raise RuntimeError("bad") from error
        finally:
            self.size += 1
        with open(os.devnull) as file: return lambda: (file, total)

def generate():
    x = yield 1; y = yield 2
    yield from (x, y)

async def wait(items):
    async for item in items:
        await item

def far():
    a = 1
''' + '\n' * 700 + '''
    b = 2
    return (a,
''' + '\n' * 90 + '''
            b, "''' + 'x' * 200 + '''", a)

match os.name:
    case "posix" if far: z = f"{os.name!r:>10}"
    case _: z = None
'''


def code_objects(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from code_objects(constant)


def main():
    version = "%d.%d" % sys.version_info[:2]
    for code in code_objects(compile(SOURCE, "sample.py", "exec")):
        lines = [position[0] or 0 for position in code.co_positions()]
        print(version, code.co_qualname.replace(" ", ""), code.co_firstlineno,
              code.co_linetable.hex() or "-", *lines)


main()
