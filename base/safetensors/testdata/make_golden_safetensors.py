#!/usr/bin/env python3
"""Writes golden.safetensors beside this file, with struct and json alone.

It is independent of the C++ reader and writer, so that these do not only agree with
each other. With --check it compares instead, and exits 1 if the file differs.
"""

import json
import pathlib
import struct
import sys

# Each has a name, dtype, shape, struct code and values; in the order of the data.
TENSORS = [
    ("embeddings.weight", "F32", [2, 3], "<6f", [0.5, -1.0, 2.0, 3.25, -4.5, 1e-3]),
    ("scalar", "I64", [], "<q", [-42]),
    ("empty", "F32", [0, 5], "", []),
    ("half", "F16", [2, 2], "<4e", [1.0, -2.0, 0.5, 65504.0]),
    # These are the upper 16 bits of the float32 1.0, -2.0, 0.5.
    ("brain", "BF16", [3], "<3H", [0x3F80, 0xC000, 0x3F00]),
    ("name with \u00e9 and \"quotes\"", "U8", [3], "<3B", [1, 2, 255]),
]


def golden():
    header = {"__metadata__": {"format": "pt", "made by": "struct and json"}}
    data = b""
    for name, dtype, shape, code, values in TENSORS:
        content = struct.pack(code, *values)
        header[name] = {
            "dtype": dtype,
            "shape": shape,
            "data_offsets": [len(data), len(data) + len(content)],
        }
        data += content
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def main():
    path = pathlib.Path(__file__).with_name("golden.safetensors")
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if path.read_bytes() == golden() else "golden.safetensors differs")
    path.write_bytes(golden())


if __name__ == "__main__":
    main()
