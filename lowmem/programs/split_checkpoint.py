#!/usr/bin/env python3
"""Writes the tensors of a safetensors file into two files and their index, as large
published checkpoints are: every second tensor goes into the other file.

    python3 split_checkpoint.py model.safetensors FOLDER

Needs Python's own library only. Its memory is that of the file.
"""

import json
import struct
import sys


def read_tensors(path):
    """Name -> entry of the header and bytes."""
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    values = data[8 + length :]
    return {
        name: (entry, values[slice(*entry["data_offsets"])])
        for name, entry in header.items()
    }


def write_shard(path, tensors):
    entries, values = {}, b""
    for name, (entry, data) in tensors:
        entries[name] = dict(entry, data_offsets=[len(values), len(values) + len(data)])
        values += data
    text = json.dumps(entries).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + values)


def main():
    source, folder = sys.argv[1:]
    tensors = sorted(read_tensors(source).items())
    weight_map = {}
    for number, part in enumerate((tensors[::2], tensors[1::2])):
        name = "model-%d.safetensors" % number
        write_shard(folder + "/" + name, part)
        weight_map.update((tensor, name) for tensor, _ in part)
    with open(folder + "/model.safetensors.index.json", "w") as file:
        json.dump({"metadata": {}, "weight_map": weight_map}, file)


if __name__ == "__main__":
    main()
