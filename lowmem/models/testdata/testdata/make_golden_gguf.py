#!/usr/bin/env python3
"""Makes testdata/golden_gguf_NAME: a GGUF file in a quantised type, a text of ids,
and the logits after some of its tokens.

The files are made as people make them: transformers' own code writes a small
checkpoint, llama.cpp's convert_hf_to_gguf.py makes it GGUF, and its llama-quantize
quantises it. The expected numbers are those of transformers' model in double
precision with the weights that python3-gguf reads from that file, and the measure
is its error in float32, as in make_golden_decoders.py.

    python3 lowmem/models/testdata/testdata/make_golden_gguf.py lowmem/models/testdata [NAME...]

Needs python3-transformers 5, python3-torch, python3-gguf and llama.cpp-tools, as
Debian sid has them (a folder of debootstrap will do).
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

import gguf
import numpy
import torch
import transformers

from make_golden_decoders import VOCABULARY, randomise, rope, write_expected

SCRIPT = "/usr/share/doc/llama.cpp-tools/scripts/convert_hf_to_gguf.py"

# Converts without a tokenizer: these models have none.
CONVERT = """
import sys
sys.argv = [%r] + sys.argv[1:]
sys.path.insert(0, %r)
import convert_hf_to_gguf as convert
def no_vocabulary(self):
    self.gguf_writer.add_tokenizer_model("none")
    self.gguf_writer.add_vocab_size(%d)
prepare = convert.ModelBase.prepare_metadata
def prepare_without(self, **arguments):
    type(self).set_vocab = no_vocabulary
    return prepare(self, **arguments)
convert.ModelBase.prepare_metadata = prepare_without
convert.main()
"""

COMMON = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 8192,
    "initializer_range": 0.2,
}
# Types of 256 elements need rows of them.
WIDE = {**COMMON, "hidden_size": 256, "intermediate_size": 256, "initializer_range": 0.1}


def models():
    """Name -> class, configuration and the type that llama-quantize is told."""
    llama3 = rope(
        "llama3",
        500000.0,
        factor=32.0,
        low_freq_factor=1.0,
        high_freq_factor=4.0,
        original_max_position_embeddings=256,
    )
    yield "llama", transformers.LlamaForCausalLM, transformers.LlamaConfig(
        **WIDE, rms_norm_eps=1e-5, tie_word_embeddings=True, rope_parameters=llama3
    ), ["Q4_K_M"]
    yield "llama_q5_k", transformers.LlamaForCausalLM, transformers.LlamaConfig(
        **{**WIDE, "num_hidden_layers": 1}, rope_parameters=rope("linear", factor=4.0)
    ), ["--pure", "Q5_K"]
    yield "mistral", transformers.MistralForCausalLM, transformers.MistralConfig(
        **COMMON, sliding_window=None, rope_parameters=rope("default")
    ), ["--pure", "Q5_1"]
    yield "qwen2", transformers.Qwen2ForCausalLM, transformers.Qwen2Config(
        **COMMON, tie_word_embeddings=True, rope_parameters=rope("default", 1e6)
    ), ["--pure", "Q8_0"]
    yield "qwen3", transformers.Qwen3ForCausalLM, transformers.Qwen3Config(
        **COMMON,
        head_dim=32,
        tie_word_embeddings=True,
        rope_parameters=rope("default", 1e6),
    ), ["--pure", "Q4_0"]
    yield "gemma3", transformers.Gemma3ForCausalLM, transformers.Gemma3TextConfig(
        **{**COMMON, "num_hidden_layers": 6},
        head_dim=32,
        query_pre_attn_scalar=32,
        sliding_window=64,
        rope_parameters={
            "sliding_attention": rope("default", 10000.0),
            "full_attention": rope("linear", 1e6, factor=8.0),
        },
    ), ["--pure", "Q5_0"]
    short = [1.0 + 0.05 * i for i in range(6)]
    yield "phi3", transformers.Phi3ForCausalLM, transformers.Phi3Config(
        **COMMON,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        original_max_position_embeddings=4608,
        rope_parameters=rope(
            "longrope",
            short_factor=short,
            long_factor=[8.0 * x for x in short],
            partial_rotary_factor=0.75,
            original_max_position_embeddings=4608,
        ),
    ), ["--pure", "Q4_1"]
    yield "gemma", transformers.GemmaForCausalLM, transformers.GemmaConfig(
        **COMMON, head_dim=32, rope_parameters=rope("default")
    ), ["--pure", "Q8_0"]
    yield "olmo2", transformers.Olmo2ForCausalLM, transformers.Olmo2Config(
        **COMMON, rope_parameters=rope("default", 500000.0)
    ), ["--pure", "Q8_0"]
    yield "smollm3", transformers.SmolLM3ForCausalLM, transformers.SmolLM3Config(
        **{**COMMON, "num_hidden_layers": 4},
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        rope_parameters=rope("default", 5e6),
    ), ["--pure", "Q8_0"]
    yield "granite", transformers.GraniteForCausalLM, transformers.GraniteConfig(
        **COMMON,
        embedding_multiplier=12.0,
        attention_multiplier=0.2,
        residual_multiplier=0.22,
        logits_scaling=8.0,
        rope_parameters=rope("default", 1e7),
    ), ["--pure", "Q8_0"]
    yield "gpt2", transformers.GPT2LMHeadModel, transformers.GPT2Config(
        vocab_size=VOCABULARY,
        n_positions=8192,
        n_ctx=8192,
        n_embd=64,
        n_layer=2,
        n_head=4,
        initializer_range=0.2,
    ), ["--pure", "Q8_0"]


def convert(checkpoint, path, types):
    folder = os.path.dirname(SCRIPT)
    program = CONVERT % (SCRIPT, folder, VOCABULARY)
    whole = path + ".f32"
    subprocess.run(
        [sys.executable, "-c", program, checkpoint, "--outfile", whole]
        + ["--outtype", "f32"],
        check=True,
    )
    subprocess.run(
        ["llama-quantize"] + types[:-1] + [whole, path] + types[-1:], check=True
    )
    os.remove(whole)


def take_weights(model, path):
    """Gives the model the weights of the file, in transformers' order of rows."""
    reader = gguf.GGUFReader(path)
    arch = reader.get_field("general.architecture").contents()
    known = {name: number for number, name in gguf.MODEL_ARCH_NAMES.items()}
    config = model.config
    names = gguf.get_tensor_name_map(known[arch], config.num_hidden_layers)
    stored = {}
    for tensor in reader.tensors:
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        shape = [int(extent) for extent in reversed(tensor.shape)]
        stored[tensor.name] = numpy.array(values, numpy.float32).reshape(shape)
    kinds = {}
    for name, parameter in model.named_parameters():
        base, suffix = name.rsplit(".", 1)
        # transformers ties the output's matrix to the words'.
        values = stored[names.get_name(base) + "." + suffix]
        for tensor in reader.tensors:
            if tensor.name == names.get_name(base) + "." + suffix:
                kinds[tensor.tensor_type.name] = 1 + kinds.get(tensor.tensor_type.name, 0)
        if arch in ("llama", "smollm3", "granite") and base.endswith(("q_proj", "k_proj")):
            heads = (
                config.num_attention_heads
                if base.endswith("q_proj")
                else config.num_key_value_heads
            )
            rows, columns = values.shape
            values = values.reshape(heads, rows // heads // 2, 2, columns)
            values = values.swapaxes(1, 2).reshape(rows, columns)
        if arch.startswith("gemma") and base.endswith("norm"):
            values = values - numpy.float32(1)
        if arch == "gpt2" and parameter.dim() == 2 and ".c_" in "." + base:
            values = values.T
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(numpy.ascontiguousarray(values)))
    return kinds


def make(root, name, kind, config, types):
    torch.manual_seed(2026)
    config._attn_implementation = "eager"
    model = kind(config).eval()
    randomise(model)
    folder = os.path.join(root, "golden_gguf_" + name)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "model.gguf")
    checkpoint = tempfile.mkdtemp()
    model.save_pretrained(checkpoint)
    # Gemma's rows beyond the tokenizer's words would be cut off.
    words = {"w%d" % word: word for word in range(VOCABULARY)}
    with open(os.path.join(checkpoint, "tokenizer.json"), "w") as file:
        json.dump({"model": {"vocab": words}, "added_tokens": []}, file)
    convert(checkpoint, path, types)
    shutil.rmtree(checkpoint)
    kinds = take_weights(model, path)
    write_expected("%s %s" % (name, kinds), folder, model)


def main():
    torch.set_num_threads(1)
    root, *names = sys.argv[1:]
    for name, kind, config, types in models():
        if not names or name in names:
            make(root, name, kind, config, types)


if __name__ == "__main__":
    main()
