#!/usr/bin/env python3
"""Makes the tiny checkpoints of layouts.csv, each with what transformers computes.

    python3 make_layouts.py layouts.csv GOLDEN_SCRIPTS OUTPUT [LAYOUT...]

transformers' own classes write each checkpoint with random weights; the edits of the
list then give it the names, keys and files of the published one. Beside a layout that
must run lies expected.json: ids or texts, the numbers of transformers' model in double
precision with the weights as the file rounds them, and the largest error of the same
model in float32. GOLDEN_SCRIPTS is lowmem/models/testdata/testdata.

Needs python3-transformers 5, python3-torch, python3-tokenizers, python3-gguf and
llama.cpp-tools, as Debian sid has them. run_layouts.py runs the checkpoints.
"""

import csv
import json
import os
import shutil
import sys
import tempfile
import traceback
import zlib

import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

VOCABULARY = 64
POSITIONS = 128
LENGTHS = (1, 5, 40)
DTYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
# The classes whose tokenizers write <s> and </s>, and whose padding is id 1.
ROBERTA_KIND = ("Roberta", "XLMRoberta", "Camembert", "MPNet")


def parse_value(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def parse_rope(text, keys):
    """Returns rope_parameters of "kind:key=value:..." and sets what belongs to them."""
    kind, *parts = text.split(":")
    rope = {"rope_type": kind, "rope_theta": 10000.0}
    rope.update((key, parse_value(value)) for key, value in (p.split("=") for p in parts))
    if kind == "longrope":
        times = rope.pop("long")
        original = keys["original_max_position_embeddings"]
        heads = keys["hidden_size"] // keys["num_attention_heads"]
        pairs = int(heads * rope.get("partial_rotary_factor", 1)) // 2
        rope["short_factor"] = [1.0 + 0.05 * i for i in range(pairs)]
        rope["long_factor"] = [times * x for x in rope["short_factor"]]
        rope["original_max_position_embeddings"] = original
        keys["max_position_embeddings"] = times * original
    return rope


def base_keys(name):
    """The extents of a tiny model of this class."""
    if name.startswith("GPT2"):
        return {"vocab_size": VOCABULARY, "n_embd": 32, "n_layer": 2, "n_head": 4,
                "n_positions": POSITIONS, "n_ctx": POSITIONS, "bos_token_id": 2, "eos_token_id": 3}
    if name.startswith("DistilBert"):
        return {"vocab_size": VOCABULARY, "dim": 32, "n_layers": 2, "n_heads": 4,
                "hidden_dim": 48, "max_position_embeddings": POSITIONS, "pad_token_id": 0}
    keys = {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2,
            "num_attention_heads": 4, "intermediate_size": 64,
            "max_position_embeddings": POSITIONS, "pad_token_id": 0}
    if name.startswith(ROBERTA_KIND):
        keys.update(pad_token_id=1, bos_token_id=0, eos_token_id=2, layer_norm_eps=1e-5)
        if not name.startswith("MPNet"):
            keys["type_vocab_size"] = 1
    elif name.startswith("ModernBert"):
        keys.update(num_hidden_layers=4, local_attention=16, bos_token_id=2, eos_token_id=3,
                    cls_token_id=2, sep_token_id=3)
    elif not name.startswith(("Bert", "Albert", "Electra", "Deberta", "Bart", "T5", "CLIP")):
        keys.update(num_key_value_heads=2, bos_token_id=2, eos_token_id=3)
    if name.startswith("Gemma3"):
        keys.update(head_dim=16, query_pre_attn_scalar=24, sliding_window=16)
    return keys


def make_config(row):
    keys = base_keys(row["class"])
    rope = None
    for part in row["config"].split():
        key, value = part.split("=", 1)
        if key == "rope":
            rope = value
        elif key == "layer_types":
            keys[key] = value.split("+")
        else:
            keys[key] = parse_value(value)
    if rope is not None:
        keys["rope_parameters"] = parse_rope(rope, keys)
    kind = getattr(transformers, row["class"])
    config = kind.config_class(**keys)
    config._attn_implementation = "eager"
    return kind, config, keys


def make_model(row):
    kind, config, keys = make_config(row)
    torch.manual_seed(zlib.crc32(row["layout"].encode()))
    model = kind(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 1:
                weight.add_(0.2 * torch.randn(weight.shape))
            else:
                weight.normal_(0, 0.25)
            if row["dtype"] in DTYPES:
                weight.copy_(weight.to(DTYPES[row["dtype"]]).float())
        # Gemma's code rounds the factor of its embeddings to the type of the weights.
        factor = getattr(model.get_input_embeddings(), "embed_scale", None)
        if torch.is_tensor(factor) and row["dtype"] in DTYPES:
            factor.copy_(factor.to(DTYPES[row["dtype"]]).float())
    return model, keys


def write(folder, name, value):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        json.dump(value, file, indent=1)
        file.write("\n")


# The configuration as it was published.


def write_older_keys(config, row, keys):
    """Gives a config the keys from before transformers 5."""
    rope = config.pop("rope_parameters", None)
    if "layer_types" not in keys:
        config.pop("layer_types", None)
    if "dtype" in config:
        config["torch_dtype"] = config.pop("dtype")
    if rope is None:
        return
    if config["model_type"] == "modernbert":
        config["global_rope_theta"] = rope["full_attention"]["rope_theta"]
        config["local_rope_theta"] = rope["sliding_attention"]["rope_theta"]
        config["global_attn_every_n_layers"] = 3
        return
    if "full_attention" in rope:
        config["rope_theta"] = rope["full_attention"]["rope_theta"]
        config["rope_local_base_freq"] = rope["sliding_attention"]["rope_theta"]
        config["rope_scaling"] = None
        config["sliding_window_pattern"] = 6
        return
    config["rope_theta"] = rope.pop("rope_theta")
    for key in ("partial_rotary_factor",):
        if key in rope:
            config[key] = rope.pop(key)
    kind = rope.pop("rope_type")
    if kind == "longrope":
        rope.pop("original_max_position_embeddings", None)
    name = "type" if "type_key" in row["edits"].split() else "rope_type"
    config["rope_scaling"] = None if kind == "default" else {name: kind, **rope}


def nomic_config(model):
    config = model.config
    return {
        "architectures": ["NomicBertModel"], "model_type": "nomic_bert",
        "activation_function": "swiglu", "causal": False, "layer_norm_epsilon": 1e-12,
        "max_trained_positions": 2048, "mlp_fc1_bias": False, "mlp_fc2_bias": False,
        "n_embd": config.hidden_size, "n_head": config.num_attention_heads,
        "n_inner": config.intermediate_size, "n_layer": config.num_hidden_layers,
        "n_positions": config.max_position_embeddings, "pad_vocab_size_multiple": 64,
        "parallel_block": False, "prenorm": False, "qkv_proj_bias": False,
        "rotary_emb_base": 1000, "rotary_emb_fraction": 1.0, "rotary_emb_interleaved": False,
        "rotary_emb_scale_base": None, "rotary_scaling_factor": None, "type_vocab_size": 2,
        "use_rms_norm": False, "vocab_size": config.vocab_size,
    }


def edit_config(config, row, keys):
    edits = row["edits"].split()
    if "new_rope" not in edits and "nomic" not in edits:
        write_older_keys(config, row, keys)
    if keys.get("use_bidirectional_attention"):
        # The code halves the window each time that it reads a config.
        config["sliding_window"] = keys["sliding_window"]
    for edit in edits:
        if edit.startswith("set:"):
            key, value = edit[4:].split("=", 1)
            config[key] = [value] if key == "architectures" else parse_value(value)
    for method in ("gptq", "awq", "fp8"):
        if method in edits:
            config["quantization_config"] = {"quant_method": method, "bits": 4}
    if "bnb" in edits:
        config["quantization_config"] = {"quant_method": "bitsandbytes", "load_in_4bit": True}
    return config


# The tensors as they were published.


def quantise(tensors, method):
    """Stores the layers' matrices as other libraries' quantised files do."""
    result = {}
    for name, value in tensors.items():
        if "proj.weight" not in name:
            result[name] = value
            continue
        base = name[: -len(".weight")]
        rows, columns = value.shape
        if method == "fp8":
            result[name] = value.to(torch.float8_e4m3fn)
            result[base + ".weight_scale_inv"] = torch.ones(1, 1)
        elif method == "bnb":
            result[name] = torch.zeros(rows * columns // 2, 1, dtype=torch.uint8)
            result[name + ".absmax"] = torch.ones(rows * columns // 64)
        else:
            packed = (columns // 8, rows) if method == "gptq" else (columns, rows // 8)
            result[base + ".qweight"] = torch.zeros(packed, dtype=torch.int32)
            result[base + ".qzeros"] = torch.zeros(1, rows // 8, dtype=torch.int32)
            result[base + ".scales"] = torch.ones(1, rows, dtype=torch.float16)
    return result


def rename_norms(tensors):
    def old(name):
        for new, older in (("LayerNorm.weight", "LayerNorm.gamma"),
                           ("LayerNorm.bias", "LayerNorm.beta")):
            if name.endswith(new):
                return name[: -len(new)] + older
        return name

    return {old(name): value for name, value in tensors.items()}


def add_buffers(tensors, row, model):
    """Adds the buffers that older files hold beside the weights."""
    edits, config = row["edits"].split(), model.config
    prefix = "" if row["prefix"] == "none" else row["prefix"]
    if "position_ids" in edits:
        ids = torch.arange(config.max_position_embeddings)[None]
        tensors[prefix + "embeddings.position_ids"] = ids
    for layer in range(config.num_hidden_layers):
        if "masks" in edits:
            ones = torch.ones(1, 1, POSITIONS, POSITIONS)
            tensors["%sh.%d.attn.bias" % (prefix, layer)] = ones.tril()
        if "inv_freq" in edits:
            name = "%slayers.%d.self_attn.rotary_emb.inv_freq" % (prefix, layer)
            tensors[name] = 1.0 / 10000 ** (torch.arange(0, 8, 2) / 8)


def edit_tensors(tensors, row, model):
    edits = row["edits"].split()
    if "nomic" in edits:
        from make_golden_bidirectional import published_nomic_tensors

        tensors = published_nomic_tensors(model)
    for edit in edits:
        if edit.startswith("strip:"):
            begin = edit[len("strip:"):]
            tensors = {n[len(begin):] if n.startswith(begin) else n: x
                       for n, x in tensors.items()}
        if edit.startswith("extra:"):
            tensors[edit[len("extra:"):]] = torch.randn(16, 32)
        if edit in ("gptq", "awq", "bnb", "fp8"):
            tensors = quantise(tensors, edit)
    if "gamma" in edits:
        tensors = rename_norms(tensors)
    if "head" in edits or "only_head" in edits:
        tensors["lm_head.weight"] = model.get_input_embeddings().weight.detach().clone()
    if "only_head" in edits:
        del tensors["model.embed_tokens.weight"]
    add_buffers(tensors, row, model)
    return tensors


def check_form(row, tensors):
    """Fails if prefix and ties are not what the list says."""
    begin = row["prefix"]
    if begin == "none":
        # DistilBERT's layers are transformer.layer.N without a prefix, too.
        known = ("bert.", "distilbert.", "roberta.", "mpnet.", "model.", "transformer.h.")
        assert not any(name.startswith(known) for name in tensors), list(tensors)[:4]
    else:
        assert any(name.startswith(begin) for name in tensors), list(tensors)[:4]
    if row["ties"] == "untied" and "Classification" not in row["class"]:
        assert any(n.startswith(("lm_head", "embed_out")) for n in tensors), list(tensors)


def write_tensors(folder, row, tensors):
    dtype = DTYPES[row["dtype"]]
    tensors = {name: (x.to(dtype) if x.dtype == torch.float32 else x).contiguous().clone()
               for name, x in tensors.items()}
    if "pickle" in row["edits"].split():
        torch.save(tensors, os.path.join(folder, "pytorch_model.bin"))
        return
    shards = int(row["shards"])
    if shards == 1:
        save_file(tensors, os.path.join(folder, "model.safetensors"), {"format": "pt"})
        return
    weight_map, names = {}, list(tensors)
    for shard in range(shards):
        name = "model-%05d-of-%05d.safetensors" % (shard + 1, shards)
        part = names[len(names) * shard // shards:len(names) * (shard + 1) // shards]
        assert part
        save_file({n: tensors[n] for n in part}, os.path.join(folder, name), {"format": "pt"})
        weight_map.update((n, name) for n in part)
    write(folder, "model.safetensors.index.json",
          {"metadata": {"total_size": 0}, "weight_map": weight_map})


# Texts, and what is computed of them.


def make_tokenizer(row, folder):
    """Words of letters, a family's special words, and its template."""
    is_roberta = row["class"].startswith(ROBERTA_KIND)
    special = (["<s>", "<pad>", "</s>", "[UNK]"] if is_roberta
               else ["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    words = special + ["w" + chr(97 + i // 26) + chr(97 + i % 26)
                       for i in range(VOCABULARY - len(special))]
    tokenizer = Tokenizer(models.WordPiece({w: i for i, w in enumerate(words)},
                                           unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(special)
    first, last = ("<s>", "</s>") if is_roberta else ("[CLS]", "[SEP]")
    single = "%s $A %s" % (first, last)
    pair = ("<s>:0 $A:0 </s>:0 </s>:0 $B:0 </s>:0" if is_roberta
            else "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1")
    if "lasttoken" in row["checks"]:
        single, pair = "$A [SEP]", "$A:0 [SEP]:0 $B:0 [SEP]:0"
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=pair,
        special_tokens=[(w, tokenizer.token_to_id(w)) for w in (first, last)])
    tokenizer.save(os.path.join(folder, "tokenizer.json"), pretty=False)
    return tokenizer, words[len(special):]


def make_texts(words):
    return [" ".join(words[(7 * i * i + 3 * i + length) % len(words)] for i in range(length))
            for length in (1, 5, 30)]


def make_ids(length):
    """Ids of no special words."""
    return [4 + (7 * i * i + 3 * i + length) % (VOCABULARY - 4) for i in range(length)]


def base_states(model, ids, types=None):
    base = model.base_model if model.base_model is not None else model
    more = {} if types is None else {"token_type_ids": torch.tensor([types])}
    return base(input_ids=torch.tensor([ids]), **more).last_hidden_state[0]


def write_modules(folder, row):
    """Writes the modules of sentence-transformers and returns the Dense ones."""
    mode, *rest = row["checks"].split()[1:]
    parts, layers = [("", "Transformer"), ("1_Pooling", "Pooling")], []
    for part in rest:
        kind, _, activation = part.partition(":")
        path = "%d_%s" % (len(parts), kind.capitalize())
        parts.append((path, kind.capitalize()))
        if kind != "dense":
            continue
        layer = torch.nn.Linear(32, 32, bias=activation == "tanh")
        known = {"tanh": "activation.Tanh", "identity": "linear.Identity"}
        write(folder, path + "/config.json", {
            "in_features": 32, "out_features": 32, "bias": activation == "tanh",
            "activation_function": "torch.nn.modules." + known[activation]})
        save_file({"linear." + n: x.contiguous() for n, x in layer.state_dict().items()},
                  os.path.join(folder, path, "model.safetensors"))
        layers.append((layer, torch.tanh if activation == "tanh" else lambda x: x))
    write(folder, "modules.json", [
        {"idx": i, "name": str(i), "path": path, "type": "sentence_transformers.models." + kind}
        for i, (path, kind) in enumerate(parts)])
    modes = {"mean": "mean_tokens", "cls": "cls_token", "lasttoken": "lasttoken"}
    write(folder, "1_Pooling/config.json", {
        "word_embedding_dimension": 32,
        **{"pooling_mode_" + each: each == modes[mode] for each in modes.values()}})
    write(folder, "sentence_bert_config.json", {"max_seq_length": 64, "do_lower_case": False})
    return layers


def pool(row, states, layers):
    mode, *rest = row["checks"].split()[1:]
    vector = {"mean": lambda: states.mean(0), "cls": lambda: states[0],
              "lasttoken": lambda: states[-1]}[mode]()
    for layer, activation in layers:
        vector = activation(layer.to(vector.dtype)(vector))
    return vector / vector.norm() if "normalize" in rest else vector


def types_of(model, encoded):
    count = getattr(model.config, "type_vocab_size", 0) or 0
    return encoded.type_ids if count >= 2 and model.config.model_type == "bert" else None


def computations(row, folder, model, layers, tokenizer, words):
    """Returns the inputs for expected.json, and functions that compute the numbers."""
    what = row["checks"].split()[0]
    if what in ("states", "logits"):
        ids = [make_ids(length) for length in LENGTHS]
        if what == "states":
            return {"ids": ids}, [lambda i=i: base_states(model, i) for i in ids]
        return {"ids": ids}, [
            lambda i=i: model(input_ids=torch.tensor([i])).logits[0, -1] for i in ids]
    texts = make_texts(words)
    if what == "vector":
        encoded = [tokenizer.encode(text) for text in texts]
        return {"texts": texts}, [
            lambda e=e: pool(row, base_states(model, e.ids, types_of(model, e)), layers)
            for e in encoded]
    query = " ".join(words[3:9]) if row["kind"] == "reranker" else None
    encoded = [tokenizer.encode(*([t] if query is None else [query, t])) for t in texts]

    def scores(e):
        types = types_of(model, e)
        more = {} if types is None else {"token_type_ids": torch.tensor([types])}
        return model(input_ids=torch.tensor([e.ids]), **more).logits[0]

    return {"texts": texts, "query": query}, [lambda e=e: scores(e) for e in encoded]


def write_expected(row, folder, model, layers, tokenizer, words):
    inputs, functions = computations(row, folder, model, layers, tokenizer, words)
    with torch.no_grad():
        single = [f().flatten() for f in functions]
        model.double()
        exact = [f().double().flatten() for f in functions]
    error = max(float((a.double() - b).abs().max()) for a, b in zip(single, exact))
    write(folder, "expected.json", {
        **inputs, "values": [x.tolist() for x in exact], "torch_float32_error": error})


def make_gguf(row, folder, model, checkpoint):
    import make_golden_gguf

    make_golden_gguf.VOCABULARY = model.config.vocab_size
    words = {"w%d" % word: word for word in range(model.config.vocab_size)}
    write(checkpoint, "tokenizer.json", {"model": {"vocab": words}, "added_tokens": []})
    path = os.path.join(folder, "model.gguf")
    if row["class"].startswith("Bert"):
        # As in published files, which hold WordPiece's words.
        make_golden_gguf.CONVERT = make_golden_gguf.CONVERT.replace('"none"', '"bert"')
    kind = row["dtype"].split()[1]
    types = [kind] if kind.endswith("_M") else ["--pure", kind]
    make_golden_gguf.convert(checkpoint, path, types)
    if row["outcome"] == "runs":
        make_golden_gguf.take_weights(model, path)


def make(row, folder):
    os.makedirs(folder)
    tokenizer, words = make_tokenizer(row, folder)
    if "static" in row["edits"].split():
        write(folder, "modules.json", [{
            "idx": 0, "name": "0", "path": "",
            "type": "sentence_transformers.models.StaticEmbedding"}])
        save_file({"embedding.weight": torch.randn(VOCABULARY, 32)},
                  os.path.join(folder, "model.safetensors"))
        return
    model, keys = make_model(row)
    saved = tempfile.mkdtemp()
    model.save_pretrained(saved)
    layers = []
    if row["edits"] == "gguf":
        make_gguf(row, folder, model, saved)
    else:
        with open(os.path.join(saved, "config.json")) as file:
            config = json.load(file)
        if "nomic" in row["edits"].split():
            config = nomic_config(model)
        write(folder, "config.json", edit_config(config, row, keys))
        tensors = edit_tensors(load_file(os.path.join(saved, "model.safetensors")), row, model)
        if row["outcome"] == "runs":
            check_form(row, tensors)
        write_tensors(folder, row, tensors)
        if row["kind"] == "embedder":
            stated = row if row["outcome"] == "runs" else {"checks": "vector lasttoken"}
            if row["layout"] == "mean-of-qwen3":
                stated = {"checks": "vector mean"}
            layers = write_modules(folder, stated)
    shutil.rmtree(saved)
    if row["outcome"] == "runs":
        write_expected(row, folder, model, layers, tokenizer, words)


def main():
    listed, scripts, output, *names = sys.argv[1:]
    sys.path.insert(0, scripts)
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    with open(listed, newline="") as file:
        rows = list(csv.DictReader(file))
    failed = []
    for row in rows:
        if names and row["layout"] not in names:
            continue
        folder = os.path.join(output, row["layout"])
        shutil.rmtree(folder, ignore_errors=True)
        try:
            make(row, folder)
        except Exception:
            traceback.print_exc()
            failed.append(row["layout"])
            shutil.rmtree(folder, ignore_errors=True)
    if failed:
        sys.exit("%d layouts could not be made: %s" % (len(failed), " ".join(failed)))


if __name__ == "__main__":
    main()
