#!/usr/bin/env python3
"""Makes testdata/golden_FAMILY for every decoder after GPT-2: a small checkpoint
written by transformers' own code, a text of ids, and the logits after some of its
tokens.

The expected numbers are those of transformers' model in double precision. The same
model in float32 on one thread has an error of its own, which is stored beside them
as the measure for the C++ decoder's. Frequencies and angles are floats in both.

    python3 lowmem/models/testdata/testdata/make_golden_decoders.py lowmem/models/testdata [NAME...]

Needs python3-transformers 5 and python3-torch, as Debian sid has them (a folder of
debootstrap will do). The checkpoints and the ids come out the same every time.
"""

import os
import sys

import numpy
import torch
import transformers

from golden_model import write_safetensors

VOCABULARY = 40
# Logits are kept after the first tokens and after some beyond position 4,000.
TOKENS = 4106
KEPT = list(range(5)) + list(range(4099, TOKENS))

COMMON = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 80,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 8192,
    # The values are far from zero, so that a wrong layer is noticed.
    "initializer_range": 0.25,
}


def rope(kind, theta=10000.0, **keys):
    return {"rope_type": kind, "rope_theta": theta, **keys}


def models():
    """Name -> configuration and class, one for each thing that may go wrong."""
    yield "llama", transformers.LlamaForCausalLM, transformers.LlamaConfig(
        **COMMON,
        rms_norm_eps=1e-5,
        tie_word_embeddings=True,
        rope_parameters=rope(
            "llama3",
            500000.0,
            factor=32.0,
            low_freq_factor=1.0,
            high_freq_factor=4.0,
            original_max_position_embeddings=256,
        ),
    )
    yield "llama_biases", transformers.LlamaForCausalLM, transformers.LlamaConfig(
        **COMMON,
        attention_bias=True,
        mlp_bias=True,
        rope_parameters=rope("linear", factor=4.0),
    )
    yield "mistral", transformers.MistralForCausalLM, transformers.MistralConfig(
        **COMMON, head_dim=12, sliding_window=300, rope_parameters=rope("default")
    )
    yield "qwen2", transformers.Qwen2ForCausalLM, transformers.Qwen2Config(
        **COMMON, tie_word_embeddings=True, rope_parameters=rope("default", 1e6)
    )
    yield "qwen2_yarn", transformers.Qwen2ForCausalLM, transformers.Qwen2Config(
        **COMMON,
        use_sliding_window=True,
        sliding_window=20,
        max_window_layers=1,
        rope_parameters=rope(
            "yarn", 1e6, factor=4.0, original_max_position_embeddings=2048
        ),
    )
    yield "qwen3", transformers.Qwen3ForCausalLM, transformers.Qwen3Config(
        **COMMON,
        head_dim=16,
        tie_word_embeddings=True,
        rope_parameters=rope("default", 1e6),
    )
    yield "gemma3_text", transformers.Gemma3ForCausalLM, transformers.Gemma3TextConfig(
        **COMMON,
        head_dim=16,
        query_pre_attn_scalar=24,
        sliding_window=64,
        layer_types=["sliding_attention", "full_attention"],
        rope_parameters={
            "sliding_attention": rope("default", 10000.0),
            "full_attention": rope("linear", 1e6, factor=8.0),
        },
    )
    short = [1.0 + 0.05 * i for i in range(3)]
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
    )
    # Gemma of the first generation, whose gains are stored less one.
    yield "gemma", transformers.GemmaForCausalLM, transformers.GemmaConfig(
        **COMMON, head_dim=16, rope_parameters=rope("default")
    )
    # Four heads of queries share one of keys, so the norms have two lengths.
    yield "olmo2", transformers.Olmo2ForCausalLM, transformers.Olmo2Config(
        **{**COMMON, "num_key_value_heads": 1},
        rope_parameters=rope("default", 500000.0),
    )
    yield "smollm3", transformers.SmolLM3ForCausalLM, transformers.SmolLM3Config(
        **COMMON,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        no_rope_layers=[1, 0],
        use_sliding_window=True,
        sliding_window=20,
        rope_parameters=rope("default", 5e6),
    )
    # The epsilon is so large that a wrong one is noticed.
    yield "granite", transformers.GraniteForCausalLM, transformers.GraniteConfig(
        **COMMON,
        rms_norm_eps=0.5,
        embedding_multiplier=12.0,
        attention_multiplier=0.25,
        residual_multiplier=0.22,
        logits_scaling=8.0,
        rope_parameters=rope("default", 1e7),
    )


def logits_of(model, ids):
    with torch.no_grad():
        return model(input_ids=ids[None]).logits[0, KEPT].double().numpy()


def randomise(model):
    """Draws what transformers leaves at 0 or 1: biases and gains."""
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() == 1:
                weight.add_(0.2 * torch.randn(weight.shape))


def write_expected(name, folder, model):
    """A text of ids, the model's logits in double precision, and float32's error."""
    ids = torch.randint(0, VOCABULARY, (TOKENS,))
    single = logits_of(model, ids)
    exact = logits_of(model.double(), ids)
    error = numpy.abs(single - exact).max()
    write_safetensors(
        os.path.join(folder, "expected.safetensors"),
        {
            "logits": exact,
            "ids": ids.numpy().astype(numpy.int64),
            "after": numpy.array(KEPT, numpy.int64),
            "torch_float32_error": numpy.array([error], numpy.float64),
        },
    )
    print("%s: largest error of float32 %.3g" % (name, error))


def make(root, name, kind, config):
    torch.manual_seed(2026)
    config._attn_implementation = "eager"
    model = kind(config).eval()
    randomise(model)
    folder = os.path.join(root, "golden_" + name)
    model.save_pretrained(folder)
    for extra in ("generation_config.json",):
        path = os.path.join(folder, extra)
        if os.path.exists(path):
            os.remove(path)
    write_expected(name, folder, model)


def main():
    torch.set_num_threads(1)
    root, *names = sys.argv[1:]
    for name, kind, config in models():
        if not names or name in names:
            make(root, name, kind, config)


if __name__ == "__main__":
    main()
