#!/usr/bin/env python3
"""Makes testdata/golden_roberta or golden_mpnet: a small model written by transformers'
own code, ids with padding among them, and the last states in double precision. MPNet's
are more tokens: its scores depend on distances up to 91.

    python3 lowmem/models/testdata/testdata/make_golden_roberta.py \\
        lowmem/models/testdata/golden_roberta
    python3 lowmem/models/testdata/testdata/make_golden_roberta.py \\
        lowmem/models/testdata/golden_mpnet

Needs python3-transformers 5 and python3-torch, as Debian sid has them.
"""

import os
import sys

import numpy
import torch
from transformers import MPNetConfig, MPNetModel, RobertaConfig, RobertaModel

from golden_model import write_safetensors

VOCABULARY, PADDING = 50, 1


def main():
    folder = sys.argv[1]
    is_mpnet = os.path.basename(folder.rstrip("/")) == "golden_mpnet"
    tokens = 200 if is_mpnet else 37
    torch.manual_seed(2026)
    torch.set_num_threads(1)
    config = (MPNetConfig if is_mpnet else RobertaConfig)(
        vocab_size=VOCABULARY,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=80,
        max_position_embeddings=tokens + PADDING + 1,
        **({} if is_mpnet else {"type_vocab_size": 2}),
        layer_norm_eps=1e-5,
        initializer_range=0.25,
        pad_token_id=PADDING,
    )
    config._attn_implementation = "eager"
    model = (MPNetModel if is_mpnet else RobertaModel)(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 1:
                weight.add_(0.2 * torch.randn(weight.shape))
    model.save_pretrained(folder)
    ids = torch.randint(2, VOCABULARY, (1, tokens))
    # One within the first rows that are read together, and one in a later panel.
    ids[0, [3, 20]] = PADDING
    types = torch.randint(0, 2, (1, tokens))

    def states():
        keys = {} if is_mpnet else {"token_type_ids": types}
        with torch.no_grad():
            made = model(input_ids=ids, attention_mask=torch.ones_like(ids), **keys)
        return made.last_hidden_state[0].double().numpy()

    single = states()
    model.double()
    exact = states()
    error = numpy.abs(single - exact).max()
    write_safetensors(
        os.path.join(folder, "expected.safetensors"),
        {
            "states": exact,
            "ids": ids[0].numpy(),
            "token_types": types[0].numpy(),
            "torch_float32_error": numpy.array([error], numpy.float64),
        },
    )
    print("largest error of float32 %.3g" % error)


if __name__ == "__main__":
    main()
