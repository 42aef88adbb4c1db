#!/usr/bin/env python3
"""Writes a model's folder as a GGUF file of float32, for tests and for the peers' table.

    gguf_of_checkpoint.py MODEL_DIR OUTPUT

Reads config.json and model.safetensors (floats) of a Llama, GPT-2 or BERT, and does what
llama.cpp's converter does with them: its names, its order of the rows of queries and
keys, its keys. A Llama also needs a tokenizer.json of BPE from bytes. A GPT-2 or BERT gets made-up
words, since some programs need a tokenizer even if they are given ids. Shares no line with the C++ reader. Memory: a few tensors.
"""

import array
import json
import mmap
import struct
import sys

LLAMA_NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
}
GPT2_NAMES = {
    "ln_1": "attn_norm",
    "attn.c_attn": "attn_qkv",
    "attn.c_proj": "attn_output",
    "ln_2": "ffn_norm",
    "mlp.c_fc": "ffn_up",
    "mlp.c_proj": "ffn_down",
    "wte": "token_embd",
    "wpe": "position_embd",
    "ln_f": "output_norm",
}
BERT_NAMES = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
    "embeddings.word_embeddings": "token_embd",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.position_embeddings": "position_embd",
    "embeddings.LayerNorm": "token_embd_norm",
}
# A family's names, and what comes before the number of a layer.
FAMILIES = {
    "llama": (LLAMA_NAMES, "model.layers."),
    "gpt2": (GPT2_NAMES, "h."),
    "bert": (BERT_NAMES, "encoder.layer."),
}
U32, F32, BOOL, STRING, ARRAY, I32 = 4, 6, 7, 8, 9, 5


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def value_bytes(kind, value):
    if kind == STRING:
        return text(value)
    if kind == ARRAY:
        inner, values = value
        return struct.pack("<IQ", inner, len(values)) + b"".join(
            value_bytes(inner, v) for v in values)
    return struct.pack({U32: "<I", F32: "<f", BOOL: "<B", I32: "<i"}[kind], value)


def gguf_name(family, name):
    """Returns the name of a tensor in the file, or None if the file has no place for it."""
    names, layers = FAMILIES[family]
    base, suffix = name.rsplit(".", 1)
    if not base.startswith(layers):
        return "%s.%s" % (names[base], suffix) if base in names else None
    layer, base = base[len(layers):].split(".", 1)
    return "blk.%s.%s.%s" % (layer, names[base], suffix) if base in names else None


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


def transposed(data, columns):
    values = array.array("f", data)
    return b"".join(values[column::columns].tobytes() for column in range(columns))


def read_tensors(path):
    with open(path, "rb") as file, \
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        (length,) = struct.unpack("<Q", data[:8])
        header = json.loads(data[8 : 8 + length])
        for name, entry in header.items():
            if name == "__metadata__" or name.startswith("__padding__"):
                continue
            if entry["dtype"] != "F32":
                sys.exit("gguf_of_checkpoint: %s: %s is %s; only F32 is written"
                         % (path, name, entry["dtype"]))
            begin, end = entry["data_offsets"]
            yield name, entry["shape"], data[8 + length + begin : 8 + length + end]


def converted(family, config, path):
    """Yields the name, the shape and the bytes of each tensor of the file."""
    for name, shape, values in read_tensors(path):
        if family == "llama" and name.endswith(("q_proj.weight", "k_proj.weight")):
            heads = config["num_attention_heads" if "q_proj" in name else "num_key_value_heads"]
            values = neighbours(values, heads, shape[0], 4 * shape[1])
        if family == "gpt2" and ".c_" in name and len(shape) == 2:
            values, shape = transposed(values, shape[1]), shape[::-1]
        new_name = gguf_name(family, name)
        if new_name is not None:
            yield new_name, shape, values


def llama_keys(config, folder):
    with open(folder + "/tokenizer.json", encoding="utf-8") as file:
        tokenizer = json.load(file)
    words = {i: (w, 1) for w, i in tokenizer["model"]["vocab"].items()}
    for word in tokenizer["added_tokens"]:
        words[word["id"]] = (word["content"], 3 if word["special"] else 4)
    merges = [m if isinstance(m, str) else " ".join(m) for m in tokenizer["model"]["merges"]]
    return [
        ("llama.block_count", U32, config["num_hidden_layers"]),
        ("llama.embedding_length", U32, config["hidden_size"]),
        ("llama.feed_forward_length", U32, config["intermediate_size"]),
        ("llama.attention.head_count", U32, config["num_attention_heads"]),
        ("llama.attention.head_count_kv", U32, config["num_key_value_heads"]),
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


def word_keys(config, model, special):
    """Returns the keys of a tokenizer with made-up words, besides those of `special`."""
    words = ["word%d" % i for i in range(config["vocab_size"])]
    for number, word in special.items():
        words[number] = word
    return [
        ("tokenizer.ggml.model", STRING, model),
        ("tokenizer.ggml.tokens", ARRAY, (STRING, words)),
        ("tokenizer.ggml.token_type", ARRAY, (
            I32, [3 if i in special else 1 for i in range(len(words))])),
    ]


def gpt2_keys(config, _):
    end = config["vocab_size"] - 1
    return [
        ("gpt2.block_count", U32, config["n_layer"]),
        ("gpt2.embedding_length", U32, config["n_embd"]),
        ("gpt2.feed_forward_length", U32, config.get("n_inner") or 4 * config["n_embd"]),
        ("gpt2.attention.head_count", U32, config["n_head"]),
        ("gpt2.context_length", U32, config["n_positions"]),
        ("gpt2.attention.layer_norm_epsilon", F32, config.get("layer_norm_epsilon", 1e-5)),
        ("tokenizer.ggml.pre", STRING, "gpt-2"),
        ("tokenizer.ggml.merges", ARRAY, (STRING, ["w o"])),
        ("tokenizer.ggml.eos_token_id", U32, end),
        *word_keys(config, "gpt2", {end: "<|endoftext|>"}),
    ]


def bert_keys(config, _):
    return [
        ("bert.block_count", U32, config["num_hidden_layers"]),
        ("bert.embedding_length", U32, config["hidden_size"]),
        ("bert.feed_forward_length", U32, config["intermediate_size"]),
        ("bert.attention.head_count", U32, config["num_attention_heads"]),
        ("bert.context_length", U32, config["max_position_embeddings"]),
        ("bert.attention.layer_norm_epsilon", F32, config.get("layer_norm_eps", 1e-12)),
        ("bert.attention.causal", BOOL, 0),
        ("bert.pooling_type", U32, 1),
        ("tokenizer.ggml.token_type_count", U32, config["type_vocab_size"]),
        *word_keys(config, "bert", {0: "[PAD]", 100: "[UNK]", 101: "[CLS]", 102: "[SEP]",
                                    103: "[MASK]"}),
    ]


def main(folder, output):
    with open(folder + "/config.json", encoding="utf-8") as file:
        config = json.load(file)
    family = config.get("model_type", "llama")
    keys_of = {"llama": llama_keys, "gpt2": gpt2_keys, "bert": bert_keys}
    if family not in keys_of:
        sys.exit("gguf_of_checkpoint: %s/config.json: a model of type %s cannot be written; "
                 "there are llama, gpt2 and bert" % (folder, family))
    keys = [("general.architecture", STRING, family), *keys_of[family](config, folder)]
    header = b"".join(text(key) + struct.pack("<I", kind) + value_bytes(kind, value)
                      for key, kind, value in keys)
    weights = folder + "/model.safetensors"
    infos, size, count = b"", 0, 0
    for name, shape, values in converted(family, config, weights):
        infos += text(name) + struct.pack("<I", len(shape))
        infos += b"".join(struct.pack("<Q", extent) for extent in reversed(shape))
        infos += struct.pack("<IQ", 0, size)
        size += len(values) + -len(values) % 32
        count += 1
    begin = b"GGUF" + struct.pack("<IQQ", 3, count, len(keys)) + header + infos
    with open(output, "wb") as file:
        file.write(begin + b"\0" * (-len(begin) % 32))
        for _, _, values in converted(family, config, weights):
            file.write(values + b"\0" * (-len(values) % 32))


if __name__ == "__main__":
    main(*sys.argv[1:])
