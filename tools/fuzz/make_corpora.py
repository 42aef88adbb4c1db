#!/usr/bin/env python3
"""Writes the corpora of the fuzz targets: small files of each format, good and
broken ones.

    tools/fuzz/make_corpora.py [--check]

Each lies in ROOM/testdata/TARGET/. Files that this script does not know, which
were findings once, stay. --check writes nothing, and exits 1 when a file is
missing or another one.
"""

import pathlib
import struct
import sys

# ---------------------------------------------------------------- safetensors


def safetensors(header, data=b"", length=None):
    text = header.encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def parsed_header(header, data_bytes):
    """Returns input for targets that take a header: the last byte is the size of the data."""
    return header.encode() + bytes([data_bytes])


TWO_TENSORS = (
    '{"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},'
    '"b":{"dtype":"U8","shape":[],"data_offsets":[16,17]}}'
)
TABLE = '{"table":{"dtype":"F64","shape":[2,3],"data_offsets":[0,48]}}    '
MODEL = (
    '{"__metadata__":{"estimator":"x","feature_count":"1","fingerprint":"%s"},'
    '"parameters":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}}'
)
PACKED = (
    '{"__metadata__":{"panels:w":"%s"},'
    '"w":{"dtype":"U8","shape":[2,3,4],"data_offsets":[0,24]}}'
)

SAFETENSORS = {
    "two_tensors": safetensors(TWO_TENSORS, bytes(17)),
    "header_of_two": parsed_header(TWO_TENSORS, 17),
    "metadata": parsed_header('{"__metadata__":{"format":"pt"}}', 0),
    "no_tensor": safetensors("{}"),
    "empty_tensor": parsed_header(
        '{"e":{"dtype":"BF16","shape":[0,3],"data_offsets":[0,0]}}', 0
    ),
    "gap": parsed_header('{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}', 2),
    "overlap": parsed_header(
        '{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},'
        '"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}',
        3,
    ),
    "twice": parsed_header(
        '{"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}}', 1
    ),
    "three_offsets": parsed_header(
        '{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,2]}}', 1
    ),
    "huge_shape": parsed_header(
        '{"a":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,0]}}', 0
    ),
    "escapes": parsed_header(
        '{"\\u00e4\\n\\ud83d\\ude00":{"dtype":"I64","shape":[1],'
        '"data_offsets":[0,8]}}',
        8,
    ),
    "long_length": safetensors("{}", length=2**40),
    "git_lfs": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
}

SHARD_INDEX = {
    "two_files": b'{"metadata":{"total_size":9},"weight_map":'
    b'{"a.weight":"model-00001-of-00002.safetensors",'
    b'"b.weight":"model-00002-of-00002.safetensors","b.bias":'
    b'"model-00002-of-00002.safetensors"}}',
    "no_map": b'{"metadata":{}}',
    "empty_map": b'{"weight_map":{}}',
    "leads_up": b'{"weight_map":{"a":"../x.safetensors"}}',
    "dots": b'{"weight_map":{"a":".."}}',
    "number": b'{"weight_map":{"a":7}}',
    "null_byte": b'{"weight_map":{"a":"x\\u0000y"}}',
    "no_json": b"weight_map: {}",
    "nested": b'{"weight_map":' + b"[" * 200 + b"]" * 200 + b"}",
}

COLUMN_BLOCKS = {
    "text": b"3x8/4",
    "packed": parsed_header(PACKED % "3x8/4", 24),
    "last_block_not_full": parsed_header(PACKED % "3x7/4", 24),
    "plain": parsed_header(TWO_TENSORS, 17),
    "no_block": parsed_header(PACKED % "3x8/0", 24),
    "two_numbers": parsed_header(PACKED % "3x8", 24),
    "other_shape": parsed_header(PACKED % "4x8/4", 24),
    "signs": parsed_header(PACKED % "+3x-8/4", 24),
    "too_large": parsed_header(PACKED % "3x9999999999/4", 24),
}

BINARY_TABLE = {
    "shape": b"2,3",
    "header_of_two_rows": parsed_header(TABLE.strip(), 48),
    "two_rows": safetensors(TABLE, struct.pack("<6d", 1, 2, 3, 4, 5, 6)),
    "cut_short": safetensors(TABLE, struct.pack("<5d", 1, 2, 3, 4, 5)),
    "no_rows": safetensors(
        '{"table":{"dtype":"F64","shape":[0,3],"data_offsets":[0,0]}}'
    ),
    "a_vector": safetensors(
        '{"table":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}}', bytes(16)
    ),
    "unaligned": safetensors(
        '{"table":{"dtype":"F64","shape":[1,1],"data_offsets":[0,8]}}', bytes(8)
    ),
    "two_tensors": safetensors(TWO_TENSORS, bytes(17)),
}

MODEL_FILE = {
    "header": parsed_header(MODEL % "0", 16),
    "damaged": safetensors(MODEL % "0", struct.pack("<2d", 1, 2)),
    "other_estimator": safetensors(
        (MODEL % "0").replace('"x"', '"linear_regression"'), bytes(16)
    ),
    "no_metadata": safetensors(
        '{"parameters":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}', bytes(8)
    ),
    "floats": safetensors((MODEL % "0").replace("F64", "F32").replace("[2]", "[4]"),
                          bytes(16)),
    "no_count": safetensors((MODEL % "0").replace('"1"', '"one"'), bytes(16)),
}

# ----------------------------------------------------------------------- text

SMAPS = """00400000-00402000 r-xp 00000000 08:01 7    /usr/bin/prog ram
Size:                  8 kB
Rss:                   8 kB
Pss:                   4 kB
Swap:                  0 kB
00402000-00403000 rw-p 00002000 08:01 7    /usr/bin/prog ram
Rss:                   4 kB
Anonymous:             4 kB
00403000-00405000 rw-p 00000000 00:00 0
Rss:                   8 kB
10000000-10010000 rw-p 00000000 00:00 0
Rss:                  40 kB
20000000-20001000 ---p 00000000 00:00 0
Rss:                   0 kB
20001000-20009000 rw-p 00000000 00:00 0
Rss:                  16 kB
31000000-31001000 rw-s 00000000 00:05 9    /dev/shm/queue
Rss:                   4 kB
7ff00000-7ff10000 rw-p 00000000 00:00 0    [stack]
Rss:                  20 kB
"""

RESIDENT_SET = {
    "program": SMAPS.encode(),
    "heap_in_part": b"0ffff000-10004000 rw-p 00000000 00:00 0\nRss: 12 kB\n",
    "agent": b"10-20 rw-s 00000000 08:01 10 /tmp/memprof-1/7.record\nRss: 4 kB\n",
    "no_heading": b"Rss: 4 kB\nPss: 4 kB\n",
    "short_heading": b"10-20 rw-p 0\n10 rw-p 0 0 0\n-20 rw-p 0 0 0 x\n",
    "no_number": b"10-20 rw-p 0 0:0 0\nRss:\nPss: kB\nSwap:x\n",
    "large": b"10-20 rw-p 0 0:0 0\nRss: 9007199254740991 kB\n",
}

CGROUP = b"0::/g\n"
MEMINFO = b"MemTotal: 16000000 kB\nMemAvailable:    9000000 kB\nSwapFree: 1024 kB\n"
AVAILABLE_MEMORY = {
    "second_version": b"\0".join(
        [CGROUP, MEMINFO, b"max\n", b"1000\n", b"inactive_file 10\n", b"5000\n", b"4000\n"]
    ),
    "first_version": b"\0".join(
        [b"9:cpu,memory:/\n1:name=x:/\n", MEMINFO, b"", b"", b"", b"", b"", b"8000\n",
         b"9000\n", b"cache 1\ntotal_inactive_file 7\n"]
    ),
    "machine_alone": b"\0" + MEMINFO,
    "group_alone": b"\0".join([b"0::/\n", b"", b"4096\n", b"1\n", b""]),
    "nothing": b"",
    "no_numbers": b"\0".join([b"0::\n::/\n:", b"MemAvailable: kB\n", b"x", b"-1"]),
}

CSV_PARSER = {
    "plain": b"\0\0a,b\n1,2\n",
    "quoted": b'\0\1"a ""b"" c",d\r\n"e\nf",\r\n',
    "mark": b"\0\2\xef\xbb\xbfa;b",
    "semicolons": b"\1\3a;b;\n;;\n",
    "utf_16": b"\0\0\xff\xfea\0",
    "open_quote": b'\0\0"a,b\nc',
    "quote_inside": b'\0\0a"b\n',
    "behind_quote": b'\0\5"a"b\n',
    "lone_return": b"\0\0a\rb\n",
    "blank_lines": b"\0\0\n\n\n",
}

CSV_TABLE = {
    "two_rows": b"\0a,b,target\n1,2,3\n4.5,-6e-3,+7\n",
    "no_header": b"\x021,2\n3,4\n",
    "target": b"\x20b,a,c\n1,2,3\n",
    "ignored": b"\x40a,b,c\n1,x,3\n",
    "ignored_numbers": b"\x40a,b,c\n1,2,3\n4,5,6\n",
    "blank_end": b"\1a,b\n1,2\n\n\n",
    "blank_inside": b"\0a,b\n1,2\n\n3,4\n",
    "not_finite": b"\0a,b\nnan,inf\n",
    "too_small": b"\0a\n1e-999\n",
    "too_large": b"\0a\n1e999\n",
    "short_row": b"\0a,b,c\n1,2\n",
    "long_row": b"\0a,b\n1,2,3\n",
    "same_names": b"\0a,a\n1,2\n",
    "semicolons": b"\x05a;b\n1;2\n",
    "no_rows": b"\0a,b\n",
    "blanks": b"\0a,b\n 1 ,\t2\t\n",
}

PLAN_CSV = {
    "two_tensors": b"id,lower,upper,size\nactivation,0,4,1024\ngradient,3,6,512\n",
    "other_order": b"size,id,upper,lower,alignment,offset\n8,a,2,0,64,128\n",
    "gaps": b"id,lower,upper,size,gaps\na,0,9,8,3-5 7-9@0:64\n",
    "quoted": b'id,lower,upper,size\r\n"a ""b"", c",0,1,1\r\n',
    "mark": b"\xef\xbb\xbfid,lower,upper,size\na,0,1,1",
    "twice": b"id,lower,upper,size\na,0,1,1\na,0,1,1\n",
    "no_lifespan": b"id,lower,upper,size\na,4,4,1\n",
    "too_large": b"id,lower,upper,size\na,0,1,9223372036854775808\n",
    "near_limit": b"id,lower,upper,size,alignment\na,-9223372036854775808,"
    b"9223372036854775807,9223372036854775807,1\n",
    "alignment": b"id,lower,upper,size,alignment\na,0,1,1,3\n",
    "missing_column": b"id,lower,upper\na,0,1\n",
    "blank_line": b"id,lower,upper,size\n\na,0,1,1\n",
    "bad_gap": b"id,lower,upper,size,gaps\na,0,1,1,3-@\n",
}

GRID = {
    "two_variables": b"features=10,100 rows=1000,2000\ntrain --rows={rows} {features}",
    "braces": b"a=1\n{a} {{a}} {} {b c} }}",
    "unknown": b"rows=1\n{row}",
    "unused": b"a=1 b=2\n{a}",
    "no_value": b"a=",
    "twice": b"a=1 a=2",
    "same_value": b"a=1,1",
    "digit": b"1a=1",
    "empty": b" \t",
    "open_brace": b"a=1\n{a",
}

REPORT_THRESHOLD = {
    "percent": b"2.5%",
    "bytes": b"64KiB",
    "fraction": b"1.5 GiB",
    "zeros": b"000000000000000000000000001B",
    "digits": b"0.0000000000000000000000001TB",
    "too_large": b"9223372036854775808",
    "over_100": b"100.1%",
    "no_number": b"nan%",
    "no_unit": b"1 XB",
    "point": b"1.",
}

MODEL_CONFIG = {
    "gpt2": b'{"model_type":"gpt2","n_embd":32,"n_head":2,"n_layer":2,"n_inner":80,'
    b'"n_positions":40,"vocab_size":24,"layer_norm_epsilon":1e-05,'
    b'"activation_function":"gelu_new"}',
    "no_type": b'{"architectures":["BertForMaskedLM"],"hidden_size":8,'
    b'"num_hidden_layers":1,"num_attention_heads":2,"intermediate_size":16,'
    b'"max_position_embeddings":4,"vocab_size":9,"pad_token_id":0}',
    "heads": b'{"model_type":"gpt2","n_embd":10,"n_head":3,"n_layer":1,'
    b'"n_positions":4,"vocab_size":9}',
    "no_inner": b'{"model_type":"gpt2","n_embd":1073741824,"n_head":1,"n_layer":1,'
    b'"n_positions":4,"vocab_size":9,"n_inner":null}',
    "negative": b'{"model_type":"gpt2","n_embd":-8,"n_head":0,"n_layer":1.5}',
    "epsilon": b'{"model_type":"gpt2","n_embd":8,"n_head":1,"n_layer":1,'
    b'"n_positions":4,"vocab_size":9,"layer_norm_epsilon":1e-300}',
    "other_family": b'{"model_type":"llama"}',
    "two_families": b'{"architectures":["BertModel","GPT2Model"]}',
    "a_list": b"[]",
    "not_json": b"model_type: bert",
}

THRESHOLDS_HEAD = """# proto-file: gates/judge/gate.proto
# proto-message: footprint.ThresholdFile
schema_version: 1
"""
ENVIRONMENT = 'environment { allocator: "jemalloc 5.3.0" page_size_bytes: 4096 }\n'
ONE_RULE = """threshold {
  selector { label: "//gates:small" benchmark: "BM_Load/*" }
  metric: PEAK_LIVE_USABLE_BYTES
  %s
}
"""
THRESHOLD_FILE = {
    "maximum": THRESHOLDS_HEAD + "headroom { bytes: 65536 }\n" + ONE_RULE
    % "max_bytes: 2097152  # two MiB",
    "exact": THRESHOLDS_HEAD + ENVIRONMENT + ONE_RULE % "exact_bytes: 5",
    "band": THRESHOLDS_HEAD + ONE_RULE % "max_bytes: 10 min_bytes: 5",
    "ratio": THRESHOLDS_HEAD + ONE_RULE
    % 'max_ratio { ratio: 0.5 baseline { label: "//a:b" benchmark: "BM_X" } }',
    "history": THRESHOLDS_HEAD + "recorded: true\n" + ONE_RULE
    % 'max_bytes: 9 history { date: "2026-11-21" new_value: 9 reason: "first" }',
    "list": THRESHOLDS_HEAD + "threshold [{ max_bytes: 1 }, { max_bytes: 2 }]\n",
    "one_line": THRESHOLDS_HEAD + "threshold{selector{label:'//a:b'}metric:5 max_count:3}",
    "newer": THRESHOLDS_HEAD.replace("1", "2") + "future_field: 7\n",
    "no_head": "schema_version: 1\n",
    "no_threshold": THRESHOLDS_HEAD,
    "glob": THRESHOLDS_HEAD + (ONE_RULE % "max_bytes: 7").replace("BM_Load", "a\\\\b"),
    "unit": THRESHOLDS_HEAD + ONE_RULE % "max_count: 7",
    "not_a_number": THRESHOLDS_HEAD + ONE_RULE
    % 'max_ratio { ratio: nan baseline { label: "//a:b" } }',
    "lone_return": THRESHOLDS_HEAD + "headroom { exact: true }\r" + ONE_RULE % "max_bytes: 7",
    "windows": (THRESHOLDS_HEAD + ONE_RULE % "max_bytes: 7").replace("\n", "\r\n"),
}
THRESHOLD_FILE = {name: text.encode() for name, text in THRESHOLD_FILE.items()}
THRESHOLD_FILE["mark"] = b"\xef\xbb\xbf" + THRESHOLD_FILE["maximum"]

PROFILE_TEXT = b"""label: "//gates:small"
environment { allocator: "jemalloc 5.3.0" page_size_bytes: 4096 }
process_count: 3
benchmarks {
  name: "BM_Load/layers:24"
  arguments { name: "layers" value: "24" }
  metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: 1572864 }
  phases {
    name: "read"
    parent: -1
    metrics { kind: NET_GROWTH_USABLE_BYTES determinism: EXACT value: -8 }
  }
}
"""

# ---------------------------------------------------------------- protobuf


def varint(number):
    number &= 2**64 - 1
    encoded = b""
    while number > 127:
        encoded += bytes([number & 127 | 128])
        number >>= 7
    return encoded + bytes([number])


def field(number, value):
    """Returns a field: a whole number, a double, or bytes (a text or a message)."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(*fields):
    return b"".join(field(number, value) for number, value in fields)


def metric(kind, value):
    return message((1, kind), (2, 1), (3, value))


def benchmark(name, *fields):
    return message((1, name), (3, metric(1, 1572864)), *fields)


MEMORY_PROFILE = {
    "parents": b"\xff\0\1\0\xff",
    "one_benchmark": message((2, "//a:b"), (6, 3), (4, benchmark("BM_X"))),
    "phases": message((4, benchmark(
        "BM_X", (4, message((1, "load"), (2, metric(6, -4)), (3, -1))),
        (4, message((1, "load/read"), (2, metric(1, 4)), (3, 0)))))),
    "later_parent": message((4, benchmark("BM_X", (4, message((1, "p"), (3, 7)))))),
    "two_names": message((4, benchmark("BM_X")), (4, benchmark("BM_X"))),
    "failure": message((5, message((1, 2), (3, 9), (5, "killed")))),
    "unknown_field": message((4, benchmark("BM_X", (99, 1)))),
    "unknown_metric": message((4, message((1, "x"), (3, metric(77, 1))))),
    "negative": message((4, message((1, "x"), (3, metric(1, -1))))),
    "cut_short": message((4, benchmark("BM_X")))[:-3],
    "samples": message((2, "//a:b"), (4, "6.1"), (6, message(
        (1, "BM_X"), (2, message((1, 10), (3, 5), (3, 6)))))),
    "text": PROFILE_TEXT,
}


def amount(count):
    return message((1, count), (2, 1), (3, 2.5))


def site(call, thread=0, stage=0):
    return message((1, call), (2, thread), (3, stage), (4, amount(8)), (6, amount(9)))


RUN_HEAD = [
    (2, "prog"), (10, 512),
    (11, message((2, "main"), (3, "a.cc"), (4, 7))), (11, message((1, 1), (2, "f"))),
    (12, message((1, 0), (2, 0))), (12, message((1, 1), (2, 1))),
]
IMAGE_HEAD = [(1, 7), (5, "/bin/prog"), (10, 100), (14, 1), (29, message((1, 0))),
              (29, message((1, 1))), (28, message((1, "outside"))),
              (28, message((1, "load"), (2, 0)))]
MEASURED_RUN = {
    "sites": message(*RUN_HEAD, (13, message(*IMAGE_HEAD, (26, site(2, 1, 1)),
                                             (27, message((1, 5), (2, 6), (3, 1)))))),
    "samples": message(*RUN_HEAD, (13, message(
        *IMAGE_HEAD, (30, message((1, 1), (3, amount(3)))),
        (31, message((1, 2), (2, 1), (4, 4))), (33, message((1, 2), (2, 0.5)))))),
    "no_call": message(*RUN_HEAD, (13, message(*IMAGE_HEAD, (26, site(3))))),
    "no_thread": message(*RUN_HEAD, (13, message(*IMAGE_HEAD, (26, site(1, 2))))),
    "no_frame": message((12, message((1, 0), (2, 0)))),
    "own_parent": message((11, message((2, "f"))), (12, message((1, 1), (2, 0)))),
    "negative": message((13, message((10, -1)))),
    "cut_short": message(*RUN_HEAD)[:-1],
}


def event(kind, name, *fields):
    return message((1, kind), (2, name), *fields)


PLAN = message((1, message((1, "a"), (2, 100), (7, 1))),
               (1, message((1, "b"), (2, 50), (4, 1))),
               (2, message((1, "x=1"), (2, "a"), (2, "b"), (3, "a"))),
               (2, message((1, "x=2"), (2, "a"), (3, "b"))),
               (3, 200), (6, "belady"), (8, 3), (9, 4), (10, 150), (19, 3))
MEMO_TRACE = {
    "loads": message((3, event(1, "a", (3, 100), (6, 1), (13, 9))),
                     (3, event(9, "b", (3, 5), (7, 1), (9, 4))), (6, 105)),
    "time_alone": message((3, event(1, "a", (13, 77)))),
    "plan": message((2, PLAN), (3, event(1, "a", (3, 100), (4, 100))),
                    (3, event(3, "x=1", (4, 150))), (3, event(4, "a", (4, 50))),
                    (3, event(2, "b", (5, "no file")))),
    "negative": message((3, event(1, "a", (3, -5), (10, -6), (13, -7)))),
    "unknown_kind": message((3, event(99, "a", (3, 1)))),
    "huge": message((2, message((1, message((1, "a"), (2, 2**63 - 1))),
                                (2, message((1, "c"), (2, "a"))), (10, 2**63 - 1)))),
    "cut_short": message((2, PLAN))[:-4],
}


def request(name, lower, upper, size, alignment=0):
    return message((1, name), (2, lower), (3, upper), (4, size), (5, alignment))


def varints(*numbers):
    return b"".join(varint(number) for number in numbers)


PLAN_OF_TWO = [(1, request("a", 0, 4, 1024)), (1, request("b", 3, 6, 512, 64)),
               (2, varints(0, 1024)), (3, 1536), (4, 1536), (5, 1), (6, 3),
               (7, varints(0, 1)), (8, "first_fit")]
PLAN_PROTO = {
    "two_tensors": message(*PLAN_OF_TWO),
    "overlap": message(*PLAN_OF_TWO[:2], (2, varints(0, 64)), *PLAN_OF_TWO[3:]),
    "one_offset": message(*PLAN_OF_TWO[:2], (2, varints(0)), *PLAN_OF_TWO[3:]),
    "bound_of_none": message(*PLAN_OF_TWO[:7], (7, varints(0, 9)), (8, "exact")),
    "negative_bound_tensor": message(*PLAN_OF_TWO[:7], (7, varints(-1)), (8, "exact")),
    "method": message(*PLAN_OF_TWO[:8], (8, "guess")),
    "kind": message(*PLAN_OF_TWO[:5], (5, 9), (8, "exact")),
    "beyond": message((1, request("a", -2**63, 2**63 - 1, 2**63 - 1)),
                      (2, varints(2**63 - 1)), (3, 2**63 - 1), (5, 1), (8, "exact")),
    "empty": b"",
}

# ------------------------------------------------------------- agent's records


def patch(part, offset, data):
    return struct.pack("<BHB", part, offset, len(data)) + data


def call_tree(part, modules, nodes):
    """Returns heads and entries; a node is (program counter, parent, module)."""
    made = patch(part, 0, struct.pack("<II", len(modules), len(nodes)))
    for i, path in enumerate(modules):
        made += patch(part + 1, 512 * i, struct.pack("<QQQI", 4096, 8192, 4096, 2) + b"\xab\xcd")
        made += patch(part + 1, 512 * i + 64, path)
    for i, node in enumerate(nodes):
        made += patch(part + 2, 16 * i, struct.pack("<QII", *node))
    return made


NO_MODULE = 2**32 - 1
PYTHON_MODULE = 2**32 - 2
NODES = [(0, 0, 0), (0x1234, 0, 0), (0x99, 1, NO_MODULE),
         (2**63 | 3 << 24 | 8, 2, PYTHON_MODULE)]
SITE = struct.pack("<IIIIQqqdqqdqqdqq", 2, 1, 0, 0, 1, 64, 1, 0.5, 64, 1, 0.5, 128, 2,
                   1.0, 1, 2)


def sites(points, count, tree):
    head = struct.pack("<qQqIII", 0, 1, 64, points, count, 0)
    return patch(0, 0, head) + patch(1, 0, struct.pack("<qqI", 5, 64, 0)) + tree


TREE = call_tree(2, [b"/lib/libx.so"], NODES)
GROWTH = patch(6, 0, struct.pack("<IIqq", 1, 0, 10, 20)) + patch(
    7, 0, struct.pack("<IIIIff", 1, 0, 0, 0, 8.0, 64.0))
SITE_PROFILE = {
    "two_sites": sites(1, 2, TREE) + patch(5, 0, SITE) + patch(5, 112, SITE),
    "growth": sites(1, 1, TREE) + patch(5, 0, SITE) + GROWTH,
    "halved": sites(1, 1, TREE) + patch(5, 0, SITE) + GROWTH + patch(
        6, 0, struct.pack("<II", 12, 3)),
    "no_stack": sites(0, 1, TREE) + patch(5, 0, struct.pack("<I", 9)),
    "own_parent": sites(0, 0, call_tree(2, [], [(0, 0, 0), (1, 1, NO_MODULE)])),
    "no_module": sites(0, 0, call_tree(2, [], [(0, 0, 0), (1, 0, 5)])),
    "many_points": sites(4097, 0, TREE),
    "window": sites(0, 0, TREE) + patch(6, 0, struct.pack("<II", 24, 0)),
    "empty": b"",
}


def tallies(count, tree):
    return patch(0, 0, struct.pack("<qII", 1000, count, 1)) + tree


TALLY = struct.pack("<IIIIqqqd", 2, 1, 0, 0, 3, 4, 5, 0.5)
TALLY_TREE = call_tree(2, [b"/lib/libx.so"], NODES)
STACK_TALLIES = {
    "two_samples": tallies(3, TALLY_TREE) + patch(1, 48, TALLY) + patch(1, 96, TALLY),
    "nothing_yet": tallies(2, TALLY_TREE),
    "no_stack": tallies(2, TALLY_TREE) + patch(1, 48, struct.pack("<I", 9)),
    "too_many": tallies(2**20 + 1, TALLY_TREE),
    "own_parent": tallies(0, call_tree(2, [], [(0, 0, 0), (1, 1, NO_MODULE)])),
}


def stage(name, kind, parent, open_visits=0):
    """Returns (offset, bytes) of a stage's entry, only where bytes are not zero."""
    return (0, name), (152, struct.pack("<IIbxxxxxxxbxxxxxxxb", kind, parent, 5, 1, open_visits))


def stages(*entries):
    made = b"\1" + patch(0, 0, struct.pack("<I", len(entries)))
    for i, entry in enumerate(entries):
        for at, data in entry:
            if data:
                made += patch(1, 272 * i + at, data)
    return made


STAGE_PROFILE = {
    "named": stages(stage(b"", 0, 0), stage(b"load", 1, 0), stage(b"import", 2, 1)),
    "open": stages(stage(b"", 0, 0), stage(b"load", 1, 0, 1)),
    "later_parent": stages(stage(b"", 0, 0), stage(b"load", 1, 2)),
    "kind": stages(stage(b"", 0, 0), stage(b"x" * 152, 9, 0)),
    "crossed": stages(stage(b"", 0, 0), stage(b"a", 1, 0)) + patch(
        0, 8, struct.pack("<qqqqII", 1, 2, 3, 4, 1, 99)),
    "none": b"\0" + patch(0, 0, struct.pack("<II", 0, 1)),
}


def python(count, *codes):
    made = patch(0, 0, struct.pack("<IiiIQII", 0x030B02F0, 0, 0, 0, 4096, count, 0))
    for i, code in enumerate(codes):
        made += patch(1, 32 * i, struct.pack("<QIIIiBB", *code))
    return made + patch(2, 0, b"a.pymain\x80\0\xf0\3") + patch(
        2, 64, "aä€".encode("utf-32-le"))


PYTHON_CODES = {
    "two_functions": python(2, (0, 4, 4, 4, 1, 1, 1), (64, 12, 4, 0, 3, 4, 2)),
    "surrogate": python(1, (64, 0, 4, 0, 3, 1, 4)) + patch(2, 64, b"\0\xd8\0\0"),
    "no_text": python(1, (2**28, 1, 0, 0, 1, 1, 1)),
    "kind": python(1, (0, 4, 4, 4, 1, 3, 1)),
    "too_many": python(2**18 + 1),
    # This took more than ten seconds and 256 MiB, and eight times as much.
    "long_name": python(1, (0, 2**28 - 9, 1, 0, 1, 1, 1)),
    "overlapping_texts": python(8, *[(0, 1, 1, 2**27, 1, 1, 1)] * 8),
}

MEASURED_PROCESS = {
    "one": patch(0, 8, struct.pack("<iiiiqqii", 7, 1, 0, 0, 5, 9, 1, 0)) + patch(
        1, 0, b"/bin/prog\n/lib/libc.so.6\n"),
    "command_line": patch(0, 232, b"/bin/prog") + patch(
        0, 1256, struct.pack("<i", 9) + b"prog\0--x\0"),
    "negative_size": patch(0, 1256, struct.pack("<i", -1)),
    "allocator": patch(0, 168, b"glibc 2.36") + patch(0, 48, b"\0"),
    "long_allocator": patch(0, 168, 63 * b"x") + patch(0, 231, b"x"),
    "no_sites": patch(0, 48, b"\1"),
    "no_stages": patch(0, 56, b"\1"),
    "other_magic": patch(0, 0, b"x"),
    "no_magic": patch(0, 0, bytes(8)),
}

# ------------------------------------------------------------ code and programs

PYTHON_LINES = {
    "function": b"\4" + bytes.fromhex("80008000800080008000d80437d00437d80b0c8044e0050d"
                                      "f00208050af00008050af10300060e8458"),
    "module": b"\1" + bytes.fromhex("f003010101e00009800980098009f0041b014401f0001b014401"),
    "no_location": b"\1\xf8\xf8\xf8",
    "no_columns": b"\7\xe8\2\xe9\3",
    "long_number": b"\1\xf0" + b"\x7f" * 12,
    "cut_short": b"\1\xf0\2",
    "no_head": b"\1\0\0",
}


def program(machine=62, dynamic=((1, 1), (5, 0x200), (10, 64), (0, 0)), names=None,
            loader=b"/lib64/ld-linux-x86-64.so.2\0"):
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, machine, 1,
                                                       0, 64, 0, 0, 64, 56, 3, 0, 0, 0)

    def segment(kind, offset, size):
        return struct.pack("<IIQQQQQQ", kind, 4, offset, offset, offset, size, size, 8)

    entries = b"".join(struct.pack("<qQ", *entry) for entry in dynamic)
    made = header + segment(3, 0x180, len(loader)) + segment(1, 0, 0x400)
    made += segment(2, 0x100, len(entries))
    made = made.ljust(0x100, b"\0") + entries
    made = made.ljust(0x180, b"\0") + loader
    return made.ljust(0x200, b"\0") + (names or b"\0libc.so.6\0").ljust(64, b"\0")


MEASURABLE_PROGRAM = {
    "dynamic": program(),
    "other_processor": program(machine=40),
    "musl": program(loader=b"/lib/ld-musl-x86_64.so.1\0"),
    "asan": program(names=b"\0libasan.so.8\0"),
    "own_asan": program(names=b"\0x\0__asan_init\0"),
    "names_beyond": program(dynamic=((1, 2**63), (5, 2**64 - 1), (10, 2**64 - 1))),
    "static": program()[:64],
    "script": b"#!/bin/sh\necho\n",
    "script_with_word": b"#! /usr/bin/env python3\n",
    "script_of_nothing": b"#!\n",
    "text": b"hello\n",
}

CORPORA = {
    "base/memory/available_memory": AVAILABLE_MEMORY,
    "base/safetensors/safetensors": SAFETENSORS,
    "base/safetensors/shard_index": SHARD_INDEX,
    "base/text/csv_parser": CSV_PARSER,
    "gates/deployments/tabular/estimators/model_file": MODEL_FILE,
    "gates/deployments/tabular/tables/binary_table": BINARY_TABLE,
    "gates/deployments/tabular/tables/csv_table": CSV_TABLE,
    "gates/judge/threshold_file": THRESHOLD_FILE,
    "gates/updating/threshold_edit": THRESHOLD_FILE,
    "lowmem/models/model_config": MODEL_CONFIG,
    "lowmem/weights/column_blocks": COLUMN_BLOCKS,
    "memo/schedule/memo_trace_file": MEMO_TRACE,
    "memo/trace/trace_text": MEMO_TRACE,
    "profiling/memprof/measurable_program": MEASURABLE_PROGRAM,
    "profiling/records/measured_process": MEASURED_PROCESS,
    "profiling/records/python_codes": PYTHON_CODES,
    "profiling/records/site_profile": SITE_PROFILE,
    "profiling/records/stack_tallies": STACK_TALLIES,
    "profiling/records/read_stages": STAGE_PROFILE,
    "profiling/reports/report_threshold": REPORT_THRESHOLD,
    "profiling/resident/resident_set": RESIDENT_SET,
    "profiling/runs/measured_run_file": MEASURED_RUN,
    "profiling/scaling/grid": GRID,
    "profiling/schema/memory_profile_file": MEMORY_PROFILE,
    "profiling/symbols/python_lines": PYTHON_LINES,
    "trainer_manager/plan_files/plan_csv": PLAN_CSV,
    "trainer_manager/plan_files/plan_proto": PLAN_PROTO,
}


def corpus_files():
    """Yields each path below the tree with its bytes."""
    for target, files in CORPORA.items():
        room, name = target.rsplit("/", 1)
        for file, data in files.items():
            yield pathlib.PurePosixPath(room, "testdata", name + "_fuzz", file), data


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    tree = pathlib.Path(__file__).resolve().parents[2]
    wrong = 0
    for path, data in corpus_files():
        file = tree / path
        if arguments:
            if not file.exists() or file.read_bytes() != data:
                print("%s is not what the script makes" % path, file=sys.stderr)
                wrong += 1
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
