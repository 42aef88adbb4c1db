#!/usr/bin/env python3
"""Makes testdata/golden_head_{bert,roberta,distilbert,mpnet}, small classifiers and
rerankers written by transformers' own code, and testdata/golden_dense_embedder, a model of
sentence-transformers with Dense modules, a prompt and lower case.

Beside each model lies expected.jsonl: a list of the first text, the second or null, ids,
types of tokens or null, the logits or the vector in double precision, and the largest
error of torch's float32 in them. Ids are those of Hugging Face's tokenizers.

    python3 lowmem/models/testdata/testdata/make_golden_heads.py \\
        lowmem/models/testdata lowmem/text/testdata

Needs python3-transformers 5, python3-torch and python3-tokenizers, as Debian sid has
them.
"""

import json
import os
import sys

import torch
import transformers
from safetensors.torch import save_file
from tokenizers import Tokenizer, processors

MOST_TOKENS = 24
PAIRS = [
    ("A cat sat on the mat.", None),
    ("", None),
    ("Where is the cat?", "It sat on the mat, and so on."),
    ("  the  ", "caf\u00e9 \u4f60\u597d 123 !?\n"),
    ("", "nothing before"),
    ("long " * 20, "short"),
    ("short", "long " * 30),
    ("both are long " * 8, "and this, too, is a long one " * 8),
    ("long " * 60, None),
]
COMMON = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
              max_position_embeddings=32, initializer_range=0.4)


def randomised(model):
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 1:
                weight.add_(0.2 * torch.randn(weight.shape))
    return model.eval()


def write(folder, name, value):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        json.dump(value, file, indent=2)
        file.write("\n")


def expect(folder, tokenizer, has_types, compute, model, pairs):
    """compute(ids, types) with the model as it is, then in double precision."""
    tokenizer.enable_truncation(MOST_TOKENS, strategy="longest_first")
    encoded = [tokenizer.encode(*[t.strip() for t in pair if t is not None]) for pair in pairs]
    inputs = [
        (torch.tensor([e.ids]), torch.tensor([e.type_ids]) if has_types else None)
        for e in encoded
    ]
    with torch.no_grad():
        singles = [compute(*each) for each in inputs]
        model.double()
        exact = [compute(*each) for each in inputs]
    with open(os.path.join(folder, "expected.jsonl"), "w") as file:
        for pair, e, single, wide in zip(pairs, encoded, singles, exact):
            error = float((single.double() - wide).abs().max())
            types = e.type_ids if has_types else None
            file.write(json.dumps([*pair, e.ids, types, wide.tolist(), error]) + "\n")


def make_head(root, words, name, labels):
    folder = os.path.join(root, "golden_head_" + name)
    source = "gpt2" if name == "roberta" else "word_pieces"
    tokenizer = Tokenizer.from_file(os.path.join(words, source, "tokenizer.json"))
    if name != "roberta":
        cls, sep = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
        pair = "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1"
        if name == "mpnet":
            pair = "[CLS]:0 $A:0 [SEP]:0 [SEP]:0 $B:0 [SEP]:0"
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", pair=pair,
            special_tokens=[("[CLS]", cls), ("[SEP]", sep)],
        )
    vocabulary = tokenizer.get_vocab_size()
    torch.manual_seed(2026)
    kinds = {
        "bert": ("Bert", dict(COMMON, pad_token_id=0)),
        "roberta": ("Roberta", dict(COMMON, pad_token_id=1, type_vocab_size=1)),
        "mpnet": ("MPNet", dict(COMMON, pad_token_id=1)),
        "distilbert": ("DistilBert", dict(
            dim=16, n_layers=2, n_heads=2, hidden_dim=32, max_position_embeddings=32,
            initializer_range=0.4, pad_token_id=0)),
    }
    begin, keys = kinds[name]
    config = getattr(transformers, begin + "Config")(
        vocab_size=vocabulary, num_labels=labels, **keys
    )
    config._attn_implementation = "eager"
    model = randomised(getattr(transformers, begin + "ForSequenceClassification")(config))
    model.save_pretrained(folder)
    tokenizer.save(os.path.join(folder, "tokenizer.json"), pretty=False)
    write(folder, "tokenizer_config.json", {"model_max_length": MOST_TOKENS})

    def compute(ids, types):
        more = {} if types is None else {"token_type_ids": types}
        return model(input_ids=ids, **more).logits[0]

    expect(folder, tokenizer, name == "bert", compute, model, PAIRS)


def dense(folder, name, inputs, outputs, bias, activation):
    linear = randomised(torch.nn.Linear(inputs, outputs, bias=bias))
    write(folder, name + "/config.json", {
        "in_features": inputs, "out_features": outputs, "bias": bias,
        "activation_function": "torch.nn.modules." + activation,
    })
    save_file({"linear." + key: value.contiguous() for key, value in linear.state_dict().items()},
              os.path.join(folder, name, "model.safetensors"))
    return linear


def make_dense(root, words):
    """Makes a model in the form of LaBSE: [CLS], then Dense, then Normalize."""
    folder = os.path.join(root, "golden_dense_embedder")
    tokenizer = Tokenizer.from_file(os.path.join(words, "word_pieces_cased", "tokenizer.json"))
    torch.manual_seed(2026)
    config = transformers.BertConfig(
        vocab_size=tokenizer.get_vocab_size(), pad_token_id=0, **COMMON
    )
    config._attn_implementation = "eager"
    model = randomised(transformers.BertModel(config))
    model.save_pretrained(folder)
    tokenizer.save(os.path.join(folder, "tokenizer.json"), pretty=False)
    first = dense(folder, "2_Dense", 16, 24, True, "activation.Tanh")
    second = dense(folder, "3_Dense", 24, 8, False, "linear.Identity")
    modules = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Dense", "Dense"),
               ("3_Dense", "Dense"), ("4_Normalize", "Normalize")]
    write(folder, "modules.json", [
        {"idx": i, "name": str(i), "path": path, "type": "sentence_transformers.models." + kind}
        for i, (path, kind) in enumerate(modules)
    ])
    write(folder, "1_Pooling/config.json", {
        "word_embedding_dimension": 16, "pooling_mode_cls_token": True,
        "pooling_mode_mean_tokens": False, "pooling_mode_max_tokens": False,
        "pooling_mode_mean_sqrt_len_tokens": False,
    })
    write(folder, "sentence_bert_config.json",
          {"max_seq_length": MOST_TOKENS, "do_lower_case": True})
    write(folder, "config_sentence_transformers.json", {
        "prompts": {"query": "Find: ", "document": ""}, "default_prompt_name": "query",
    })
    whole = torch.nn.ModuleList([model, first, second])

    def compute(ids, types):
        state = model(input_ids=ids, token_type_ids=types).last_hidden_state[0, 0]
        vector = second(torch.tanh(first(state)))
        return vector / vector.norm()

    texts = [first for first, second in PAIRS if second is None] + ["THE Caf\u00c9"]
    prompted = [(("Find: " + text).strip().lower(), None) for text in texts]
    expect(folder, tokenizer, True, compute, whole, prompted)
    # The texts as a user gives them.
    path = os.path.join(folder, "expected.jsonl")
    with open(path) as file:
        entries = [json.loads(line) for line in file]
    with open(path, "w") as file:
        for text, entry in zip(texts, entries):
            file.write(json.dumps([text] + entry[1:]) + "\n")


def main():
    root, words = sys.argv[1:]
    torch.set_num_threads(1)
    for name, labels in (("bert", 3), ("roberta", 1), ("distilbert", 2), ("mpnet", 1)):
        make_head(root, words, name, labels)
    make_dense(root, words)


if __name__ == "__main__":
    main()
