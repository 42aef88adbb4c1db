#!/usr/bin/env python3
"""Makes testdata/golden_{modernbert,nomic_bert,embeddinggemma}: small embedding models
whose tokens see each other in both directions, in the form of sentence-transformers.

transformers' own code reads each checkpoint in its published layout and computes the
states, in double precision: where the code rounds to floats on the way (norms, rotated
heads, softmax), these steps are replaced by the same ones without rounding. Frequencies,
angles and their sines are floats, as published. Beside each model lie

  expected.safetensors  ids, and for each length the states of some tokens of a text of
                        so many ids, and the largest error of torch's float32 in them
  expected.jsonl        texts, ids, vectors and that error, as make_golden_heads.py

    python3 lowmem/models/testdata/testdata/make_golden_bidirectional.py \\
        lowmem/models/testdata lowmem/text/testdata/word_pieces

Needs python3-transformers 5, python3-torch and python3-tokenizers, as Debian sid has
them.
"""

import json
import os
import shutil
import sys

import numpy
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from transformers import (
    Gemma3TextConfig,
    Gemma3TextModel,
    ModernBertConfig,
    ModernBertModel,
    NomicBertConfig,
    NomicBertModel,
)
from transformers.models.gemma3 import modeling_gemma3
from transformers.models.modernbert import modeling_modernbert

from golden_model import write_safetensors
from make_golden_heads import MOST_TOKENS, PAIRS, dense, randomised, write

HIDDEN = 24
# The windows are far below the last length, and a block of keys is 256.
WINDOW = 24
LENGTHS = (1, 2, 3, 4, 5, 300)
COMMON = dict(
    hidden_size=HIDDEN,
    num_attention_heads=2,
    intermediate_size=40,
    max_position_embeddings=512,
    # The values are far from zero, so that a wrong layer is noticed.
    initializer_range=0.3,
)


def avoid_rounding():
    """Keeps double precision where transformers' code casts to floats."""
    modeling_modernbert.apply_rotary_pos_emb = modeling_gemma3.apply_rotary_pos_emb

    def norm(self, x):
        return (self._norm(x) * (1.0 + self.weight)).type_as(x)

    modeling_gemma3.Gemma3RMSNorm.forward = norm
    softmax = torch.nn.functional.softmax

    def softmax_of_type(x, dim, dtype=None):
        return softmax(x, dim=dim, dtype=x.dtype if x.dtype == torch.float64 else dtype)

    torch.nn.functional.softmax = softmax_of_type


def make_modernbert(folder, words):
    """Layers 0 and 3 see all tokens, the others a window, each with its own angles."""
    config = ModernBertConfig(
        vocab_size=words, num_hidden_layers=4, local_attention=WINDOW, pad_token_id=0,
        bos_token_id=1, eos_token_id=2, cls_token_id=1, sep_token_id=2, **COMMON,
    )
    # transformers draws some matrices with less deviation, so that layers hardly count.
    model = ModernBertModel(config)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 2:
                weight.normal_(0, 0.2)
    randomised(model).save_pretrained(folder)
    return ModernBertModel


def make_embeddinggemma(folder, words):
    config = Gemma3TextConfig(
        vocab_size=words, num_hidden_layers=3, num_key_value_heads=1, head_dim=16,
        query_pre_attn_scalar=20, sliding_window=WINDOW, pad_token_id=0,
        layer_types=["sliding_attention", "sliding_attention", "full_attention"],
        use_bidirectional_attention=True, **COMMON,
    )
    randomised(Gemma3TextModel(config)).save_pretrained(folder)
    # The code halves the window each time that it reads a config. The published file
    # has the whole one.
    path = os.path.join(folder, "config.json")
    with open(path) as file:
        keys = json.load(file)
    keys["sliding_window"] = WINDOW
    write(folder, "config.json", keys)
    assert Gemma3TextConfig.from_pretrained(folder).sliding_window == WINDOW // 2 + 1
    return Gemma3TextModel


def published_nomic_tensors(model):
    """The tensors with the names and the joined matrix of the published checkpoints."""
    own = model.state_dict()
    tensors = {
        "embeddings.word_embeddings.weight": own["embeddings.word_embeddings.weight"],
        "embeddings.token_type_embeddings.weight": own["embeddings.token_type_embeddings.weight"],
    }

    def rename(to, name):
        for end in (".weight", ".bias"):
            if name + end in own:
                tensors[to + end] = own[name + end]

    rename("emb_ln", "embeddings.LayerNorm")
    for i in range(model.config.num_hidden_layers):
        begin, layer = "encoder.layers.%d." % i, "layers.%d." % i
        tensors[begin + "attn.Wqkv.weight"] = torch.cat(
            [own[layer + "self_attn.%s_proj.weight" % part] for part in "qkv"]
        )
        rename(begin + "attn.out_proj", layer + "self_attn.o_proj")
        rename(begin + "mlp.fc11", layer + "mlp.up_proj")
        rename(begin + "mlp.fc12", layer + "mlp.gate_proj")
        rename(begin + "mlp.fc2", layer + "mlp.down_proj")
        rename(begin + "norm1", layer + "post_attention_layernorm")
        rename(begin + "norm2", layer + "post_mlp_layernorm")
    return tensors


def make_nomic_bert(folder, words):
    config = NomicBertConfig(vocab_size=words, num_hidden_layers=3, **COMMON)
    model = randomised(NomicBertModel(config))
    tensors = published_nomic_tensors(model)
    model.save_pretrained(folder)
    path = os.path.join(folder, "model.safetensors")
    save_file({name: x.contiguous() for name, x in tensors.items()}, path, {"format": "pt"})
    return NomicBertModel


def write_nomic_config(folder, words):
    """The keys of the published config, which transformers does not read."""
    write(folder, "config.json", {
        "architectures": ["NomicBertModel"], "model_type": "nomic_bert",
        "activation_function": "swiglu", "attn_pdrop": 0.0, "causal": False,
        "dense_seq_output": True, "embd_pdrop": 0.0, "initializer_range": 0.02,
        "layer_norm_epsilon": 1e-12, "max_trained_positions": 2048, "mlp_fc1_bias": False,
        "mlp_fc2_bias": False, "n_embd": HIDDEN, "n_head": 2, "n_inner": 40, "n_layer": 3,
        "n_positions": 512, "pad_vocab_size_multiple": 64, "parallel_block": False,
        "parallel_block_tied_norm": False, "prenorm": False, "qkv_proj_bias": False,
        "rotary_emb_base": 1000, "rotary_emb_fraction": 1.0, "rotary_emb_interleaved": False,
        "rotary_emb_scale_base": None, "rotary_scaling_factor": None, "type_vocab_size": 2,
        "use_cache": True, "use_rms_norm": False, "vocab_size": words,
    })


def states_of(model, ids):
    with torch.no_grad():
        return model(input_ids=ids[None]).last_hidden_state[0]


def kept_tokens(length):
    """The first and the last, where windows end; of a short text all."""
    return list(range(length)) if length <= 5 else [0, 1, *range(length - 48, length)]


def write_states(folder, name, model, words):
    ids = torch.randint(0, words, (max(LENGTHS),))
    single = [states_of(model, ids[:length]) for length in LENGTHS]
    model.double()
    exact = [states_of(model, ids[:length]) for length in LENGTHS]
    errors = [float((a.double() - b).abs().max()) for a, b in zip(single, exact)]
    tensors = {
        "ids": ids.numpy().astype(numpy.int64),
        "lengths": numpy.array(LENGTHS, numpy.int64),
        "torch_float32_errors": numpy.array(errors, numpy.float64),
    }
    for length, states in zip(LENGTHS, exact):
        kept = kept_tokens(length)
        tensors["kept_%d" % length] = numpy.array(kept, numpy.int64)
        tensors["states_%d" % length] = states[kept].numpy()
    write_safetensors(os.path.join(folder, "expected.safetensors"), tensors)
    print("%s: largest errors of float32" % name, ["%.3g" % error for error in errors])


def write_modules(folder, mode, parts):
    modules = [("", "Transformer"), ("1_Pooling", "Pooling"), *parts]
    write(folder, "modules.json", [
        {"idx": i, "name": str(i), "path": path, "type": "sentence_transformers.models." + kind}
        for i, (path, kind) in enumerate(modules)
    ])
    modes = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens")
    write(folder, "1_Pooling/config.json", {
        "word_embedding_dimension": HIDDEN,
        **{"pooling_mode_" + each: each == mode for each in modes},
    })
    write(folder, "sentence_bert_config.json",
          {"max_seq_length": MOST_TOKENS, "do_lower_case": False})


def write_vectors(folder, tokenizer, model, mode, layers):
    """Called after write_states: the model is in double precision."""
    def vector_of(ids):
        states = states_of(model, ids)
        vector = states[0] if mode == "cls_token" else states.mean(0)
        for layer in layers:
            with torch.no_grad():
                vector = layer(vector)
        return vector / vector.norm()

    tokenizer.enable_truncation(MOST_TOKENS)
    texts = [first for first, second in PAIRS if second is None]
    encoded = [tokenizer.encode(text.strip()).ids for text in texts]
    whole = torch.nn.ModuleList([model, *layers])
    results = []
    for kind in (torch.float32, torch.float64):
        whole.to(kind)
        results.append([vector_of(torch.tensor(ids)) for ids in encoded])
    with open(os.path.join(folder, "expected.jsonl"), "w") as file:
        for text, ids, single, exact in zip(texts, encoded, *results):
            error = float((single.double() - exact).abs().max())
            file.write(json.dumps([text, None, ids, None, exact.tolist(), error]) + "\n")


def make(root, words, name, build, mode, has_dense):
    tokenizer = Tokenizer.from_file(os.path.join(words, "tokenizer.json"))
    count = tokenizer.get_vocab_size()
    folder = os.path.join(root, "golden_" + name)
    os.makedirs(folder, exist_ok=True)
    torch.manual_seed(2026)
    kind = build(folder, count)
    model, report = kind.from_pretrained(
        folder, attn_implementation="eager", output_loading_info=True
    )
    assert not report["missing_keys"] and not report["unexpected_keys"], report
    write_states(folder, name, model.eval(), count)
    layers, parts = [], []
    if has_dense:
        layers = [dense(folder, "2_Dense", HIDDEN, 40, False, "linear.Identity"),
                  dense(folder, "3_Dense", 40, HIDDEN, False, "linear.Identity")]
        parts = [("2_Dense", "Dense"), ("3_Dense", "Dense")]
    parts.append(("%d_Normalize" % (2 + len(parts)), "Normalize"))
    write_modules(folder, mode, parts)
    shutil.copy(os.path.join(words, "tokenizer.json"), folder)
    write_vectors(folder, tokenizer, model, mode, layers)
    if name == "nomic_bert":
        write_nomic_config(folder, count)
    print(name, sorted(load_file(os.path.join(folder, "model.safetensors")))[:4])


def main():
    root, words = sys.argv[1:]
    torch.set_num_threads(1)
    avoid_rounding()
    make(root, words, "modernbert", make_modernbert, "cls_token", False)
    make(root, words, "nomic_bert", make_nomic_bert, "mean_tokens", False)
    make(root, words, "embeddinggemma", make_embeddinggemma, "mean_tokens", True)


if __name__ == "__main__":
    main()
