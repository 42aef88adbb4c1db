#!/usr/bin/env python3
"""Makes testdata/golden_scores: a small Llama written by transformers' own code, and
expected.jsonl beside it: texts, their ids, the logarithms of the probabilities of all but
the first of them in double precision, and the largest error of torch's float32.

    python3 lowmem/models/testdata/testdata/make_golden_scores.py \\
        lowmem/models/testdata/golden_scores lowmem/text/testdata/byte_level

Needs python3-transformers 5, python3-torch and python3-tokenizers, as Debian sid has
them.
"""

import json
import os
import shutil
import sys

import torch
from tokenizers import Tokenizer
from transformers import LlamaConfig, LlamaForCausalLM

TEXTS = ["A cat sat on the mat.", "", "caf\u00e9 \u4f60\u597d 123 !?\n", "the " * 40]


def main():
    folder, words = sys.argv[1:]
    torch.manual_seed(2026)
    torch.set_num_threads(1)
    tokenizer = Tokenizer.from_file(os.path.join(words, "tokenizer.json"))
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=tokenizer.get_vocab_size(), hidden_size=16, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=2, intermediate_size=32,
            max_position_embeddings=64, initializer_range=0.4, tie_word_embeddings=True,
            attn_implementation="eager",
        )
    ).eval()
    model.save_pretrained(folder)
    shutil.copy(os.path.join(words, "tokenizer.json"), folder)
    texts = [tokenizer.encode(text).ids for text in TEXTS]

    def scores(ids):
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([ids])).logits[0]
        chances = torch.log_softmax(logits, -1)
        return [float(chances[i, ids[i + 1]]) for i in range(len(ids) - 1)]

    singles = [scores(ids) for ids in texts]
    model.double()
    with open(os.path.join(folder, "expected.jsonl"), "w") as file:
        for text, ids, single in zip(TEXTS, texts, singles):
            exact = scores(ids)
            error = max([abs(a - b) for a, b in zip(single, exact)], default=0)
            file.write(json.dumps([text, ids, exact, error]) + "\n")


if __name__ == "__main__":
    main()
