#!/usr/bin/env python3
"""Writes a Llama's folder as a GGUF file, for lowmem_chat_test.

    gguf_of_checkpoint.py MODEL_DIR OUTPUT

Reads config.json, model.safetensors (floats) and a tokenizer.json of BPE from bytes,
and does what llama.cpp's converter does with them: its names, its order of the rows
of queries and keys, its keys. Shares no line with the C++ reader.
"""

import json
import struct
import sys

NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
U32, F32, BOOL, STRING, ARRAY, I32 = 4, 6, 7, 8, 9, 5


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def value_bytes(kind, value):
    if kind == STRING:
        return text(value)
    return struct.pack({U32: "<I", F32: "<f", BOOL: "<B", I32: "<i"}[kind], value)


def gguf_name(name):
    if name == "model.embed_tokens.weight":
        return "token_embd.weight"
    if name == "model.norm.weight":
        return "output_norm.weight"
    if name == "lm_head.weight":
        return "output.weight"
    layer, rest = name[len("model.layers.") :].split(".", 1)
    base, suffix = rest.rsplit(".", 1)
    return "blk.%s.%s.%s" % (layer, NAMES[base], suffix)


def neighbours(data, heads, rows, row_bytes):
    """Reorders the rows of each head so that the rows of a rotated pair are adjacent."""
    each = rows // heads
    result = []
    for head in range(heads):
        for pair in range(each // 2):
            for half in range(2):
                row = head * each + half * (each // 2) + pair
                result.append(data[row * row_bytes : (row + 1) * row_bytes])
    return b"".join(result)


def read_tensors(path):
    data = open(path, "rb").read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    for name, entry in header.items():
        if name == "__metadata__" or name.startswith("__padding__"):
            continue
        assert entry["dtype"] == "F32", name
        begin, end = entry["data_offsets"]
        yield name, entry["shape"], data[8 + length + begin : 8 + length + end]


def main(folder, output):
    config = json.load(open(folder + "/config.json"))
    tokenizer = json.load(open(folder + "/tokenizer.json"))
    heads = config["num_attention_heads"]
    key_heads = config["num_key_value_heads"]
    words = {i: (w, 1) for w, i in tokenizer["model"]["vocab"].items()}
    for word in tokenizer["added_tokens"]:
        words[word["id"]] = (word["content"], 3 if word["special"] else 4)
    merges = [m if isinstance(m, str) else " ".join(m) for m in tokenizer["model"]["merges"]]
    keys = [
        ("general.architecture", STRING, "llama"),
        ("llama.block_count", U32, config["num_hidden_layers"]),
        ("llama.embedding_length", U32, config["hidden_size"]),
        ("llama.feed_forward_length", U32, config["intermediate_size"]),
        ("llama.attention.head_count", U32, heads),
        ("llama.attention.head_count_kv", U32, key_heads),
        ("llama.context_length", U32, config["max_position_embeddings"]),
        ("llama.attention.layer_norm_rms_epsilon", F32, config["rms_norm_eps"]),
        ("llama.rope.freq_base", F32, config["rope_theta"]),
        ("tokenizer.ggml.model", STRING, "gpt2"),
        ("tokenizer.ggml.pre", STRING, "llama-bpe"),
        ("tokenizer.ggml.tokens", ARRAY, (STRING, [words[i][0] for i in range(len(words))])),
        ("tokenizer.ggml.token_type", ARRAY, (I32, [words[i][1] for i in range(len(words))])),
        ("tokenizer.ggml.merges", ARRAY, (STRING, merges)),
        ("tokenizer.ggml.bos_token_id", U32, 700),
        ("tokenizer.ggml.add_bos_token", BOOL, 1),
    ]
    header = b""
    for key, kind, value in keys:
        header += text(key) + struct.pack("<I", kind)
        if kind == ARRAY:
            inner, values = value
            header += struct.pack("<IQ", inner, len(values))
            header += b"".join(value_bytes(inner, v) for v in values)
        else:
            header += value_bytes(kind, value)
    infos, data, count = b"", b"", 0
    for name, shape, values in read_tensors(folder + "/model.safetensors"):
        if name.endswith(("q_proj.weight", "k_proj.weight")):
            own = heads if name.endswith("q_proj.weight") else key_heads
            values = neighbours(values, own, shape[0], 4 * shape[1])
        infos += text(gguf_name(name)) + struct.pack("<I", len(shape))
        infos += b"".join(struct.pack("<Q", extent) for extent in reversed(shape))
        infos += struct.pack("<IQ", 0, len(data))
        data += values + b"\0" * (-len(values) % 32)
        count += 1
    begin = b"GGUF" + struct.pack("<IQQ", 3, count, len(keys)) + header + infos
    with open(output, "wb") as file:
        file.write(begin + b"\0" * (-len(begin) % 32) + data)


if __name__ == "__main__":
    main(*sys.argv[1:])
