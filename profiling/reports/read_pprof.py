"""Reads pprof's format by its public description alone: FILE as JSON.

Shares nothing with the writer, not even protobuf: fields are taken apart by
hand. Prints {"types": ["peak_space/bytes", ...], "sums": [...], "samples":
[{"stack": [innermost, ...], "values": [...], "labels": {...}}, ...]}.
"""

import gzip
import json
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def fields(data):
    """(number, value) of each field: an int, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            if at + size > len(data):
                raise ValueError("a field is cut short")
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"wire type {key & 7}")
        yield key >> 3, value


def message(data):
    """By number, the values of its fields."""
    result = {}
    for number, value in fields(data):
        result.setdefault(number, []).append(value)
    return result


def numbers(values):
    """Of a repeated number, packed or not."""
    result = []
    for value in values:
        if isinstance(value, int):
            result.append(value)
            continue
        at = 0
        while at < len(value):
            number, at = varint(value, at)
            result.append(number)
    return result


def main(path):
    profile = message(gzip.open(path).read())
    texts = [text.decode() for text in profile[6]]
    assert texts[0] == ""

    def text(parts, number):
        return texts[parts.get(number, [0])[0]]

    functions = {}
    for data in profile.get(5, []):
        function = message(data)
        functions[function[1][0]] = text(function, 2)
    mappings = {message(data)[1][0] for data in profile.get(3, [])}
    locations = {}
    for data in profile.get(4, []):
        location = message(data)
        assert location.get(2, [0])[0] in mappings | {0}
        locations[location[1][0]] = [
            functions[message(line)[1][0]] for line in location[4]
        ]
    types = []
    for data in profile[1]:
        kind = message(data)
        types.append(text(kind, 1) + "/" + text(kind, 2))
    samples = []
    for data in profile.get(2, []):
        sample = message(data)
        values = [signed(value) for value in numbers(sample[2])]
        assert len(values) == len(types)
        labels = {}
        for label in map(message, sample.get(3, [])):
            labels[text(label, 1)] = text(label, 2)
        stack = [
            name for location in numbers(sample[1])
            for name in locations[location]
        ]
        samples.append({"stack": stack, "values": values, "labels": labels})
    sums = [
        sum(sample["values"][i] for sample in samples)
        for i in range(len(types))
    ]
    print(json.dumps({"types": types, "sums": sums, "samples": samples}))


if __name__ == "__main__":
    main(sys.argv[1])
