#!/usr/bin/env python3
"""Makes testdata/golden_embedder and golden_decoder_embedder: a small BERT and a small
Qwen 3 in the form of models of sentence-transformers, and vectors of texts.

transformers' own code writes the checkpoint and computes the states, in double
precision; ids are those of Hugging Face's tokenizers; means, lengths
and the last token are torch's.

    python3 lowmem/models/testdata/testdata/make_golden_embedder.py \\
        lowmem/models/testdata lowmem/text/testdata/word_pieces

Needs python3-transformers 5, python3-torch and python3-tokenizers, as Debian sid
has them.
"""

import json
import os
import shutil
import sys

import torch
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel, Qwen3Config, Qwen3Model

TEXTS = [
    "A cat sat on the mat.",
    "the",
    "",
    "It may be used to parse the arguments of a command, and so on and on and on.",
    "caf\u00e9 \u4f60\u597d 123 !?",
    "unknowable words: \u0939\u093f\u0928\u094d\u0926\u0940 \U0001f600",
    " ".join(["long"] * 60),
]
MOST_TOKENS = 24


def write(folder, name, value):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        json.dump(value, file, indent=2)
        file.write("\n")


def bert(words):
    return BertModel(
        BertConfig(
            vocab_size=words,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=64,
            max_position_embeddings=32,
            initializer_range=0.25,
            pad_token_id=0,
            attn_implementation="eager",
        )
    )


def qwen(words):
    """Names without a prefix, and no output's matrix, as Qwen3-Embedding has them."""
    return Qwen3Model(
        Qwen3Config(
            vocab_size=words,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=16,
            intermediate_size=64,
            max_position_embeddings=64,
            initializer_range=0.25,
            attn_implementation="eager",
        )
    )


def write_modules(folder, mode):
    modules = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    write(
        folder,
        "modules.json",
        [
            {"idx": i, "name": str(i), "path": path,
             "type": "sentence_transformers.models." + kind}
            for i, (path, kind) in enumerate(modules)
        ],
    )
    modes = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "lasttoken")
    write(
        folder,
        "1_Pooling/config.json",
        {
            "word_embedding_dimension": 32,
            **{"pooling_mode_" + each: each == mode for each in modes},
        },
    )
    write(folder, "sentence_bert_config.json",
          {"max_seq_length": MOST_TOKENS, "do_lower_case": False})


def make(folder, words, build, mode):
    tokenizer = Tokenizer.from_file(os.path.join(words, "tokenizer.json"))
    torch.manual_seed(2026)
    model = build(tokenizer.get_vocab_size()).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 1:
                weight.add_(0.2 * torch.randn(weight.shape))
    model.save_pretrained(folder)
    shutil.copy(os.path.join(words, "tokenizer.json"), folder)
    write_modules(folder, mode)
    tokenizer.enable_truncation(MOST_TOKENS)
    model = model.double()
    with open(os.path.join(folder, "expected.jsonl"), "w") as file:
        for text in TEXTS:
            ids = tokenizer.encode(text).ids
            with torch.no_grad():
                states = model(input_ids=torch.tensor([ids])).last_hidden_state[0]
            vector = states[-1] if mode == "lasttoken" else states.mean(0)
            vector = vector / vector.norm()
            file.write(json.dumps([text, ids, vector.tolist()]) + "\n")


def main():
    root, words = sys.argv[1:]
    torch.set_num_threads(1)
    make(os.path.join(root, "golden_embedder"), words, bert, "mean_tokens")
    make(os.path.join(root, "golden_decoder_embedder"), words, qwen, "lasttoken")


if __name__ == "__main__":
    main()
