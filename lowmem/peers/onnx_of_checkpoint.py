"""Writes the graph of a GPT-2 or a BERT as an ONNX file over the checkpoint's own weights.

    onnx_of_checkpoint.write(MODEL_DIR, "work/model.onnx")

The weights stay in model.safetensors, which must lie beside the graph. One sequence has no
batch. Inputs of a BERT: ids, positions, types; its output: states. Inputs of a GPT-2: ids,
positions, mask (added to the scores) and past_0, past_1, ... (keys and values of each layer,
[heads, tokens, features]); its outputs: logits, and present_0, present_1, ...
"""

import json
import struct

FLOAT, INT64 = 1, 7
OPSET = 20


def varint(number):
    number &= (1 << 64) - 1
    result = b""
    while number > 0x7F:
        result += bytes([number & 0x7F | 0x80])
        number >>= 7
    return result + bytes([number])


def field(number, value):
    """Returns a field of a protocol buffer: a number, a text, or an encoded message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    if isinstance(value, float):
        return field(1, name) + field(2, value) + field(20, 1)
    if isinstance(value, int):
        return field(1, name) + field(3, value) + field(20, 2)
    if isinstance(value, str):
        return field(1, name) + field(4, value) + field(20, 3)
    return field(1, name) + b"".join(field(8, v) for v in value) + field(20, 7)


def value_info(name, kind, shape):
    dims = b"".join(
        field(1, field(1, extent) if isinstance(extent, int) else field(2, extent))
        for extent in shape)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, dims)))


class Graph:
    """Nodes and weights, each added by name."""

    def __init__(self, header, data_begin):
        self._header, self._data_begin = header, data_begin
        self._parts, self._weights, self._count = [], set(), 0

    def weight(self, name):
        """Adds a tensor of the checkpoint; returns its name."""
        if name not in self._header:
            raise ValueError("model.safetensors has no tensor %s" % name)
        if name not in self._weights:
            self._weights.add(name)
            entry = self._header[name]
            if entry["dtype"] != "F32":
                raise ValueError("%s is %s; the graph takes F32" % (name, entry["dtype"]))
            begin, end = entry["data_offsets"]
            places = {"location": "model.safetensors", "offset": str(self._data_begin + begin),
                      "length": str(end - begin)}
            self._parts.append(field(
                5, b"".join(field(1, extent) for extent in entry["shape"]) + field(2, FLOAT)
                + field(8, name)
                + b"".join(field(13, field(1, k) + field(2, v)) for k, v in places.items())
                + field(14, 1)))
        return name

    def constant(self, kind, values, dims):
        name = self._name("constant")
        raw = struct.pack("<%d%s" % (len(values), "f" if kind == FLOAT else "q"), *values)
        self._parts.append(field(5, b"".join(field(1, d) for d in dims) + field(2, kind)
                                 + field(8, name) + field(9, raw)))
        return name

    def node(self, operation, inputs, outputs=1, **attributes):
        """Adds a node; returns the name of its output, or the names of several."""
        names = [self._name(operation) for _ in range(outputs)]
        self.named(operation, inputs, names, **attributes)
        return names[0] if outputs == 1 else names

    def named(self, operation, inputs, names, **attributes):
        self._parts.append(field(
            1, b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in names)
            + field(4, operation)
            + b"".join(field(5, attribute(*pair)) for pair in attributes.items())))

    def input(self, name, kind, shape):
        self._parts.append(field(11, value_info(name, kind, shape)))
        return name

    def output(self, name, shape):
        self._parts.append(field(12, value_info(name, FLOAT, shape)))
        return name

    def linear(self, states, name, out_first=True):
        return self.node("Gemm", [states, self.weight(name + ".weight"),
                                  self.weight(name + ".bias")], transB=int(out_first))

    def norm(self, states, name, epsilon):
        return self.node("LayerNormalization", [
            states, self.weight(name + ".weight"), self.weight(name + ".bias")],
            axis=-1, epsilon=epsilon)

    def by_head(self, states, heads, features):
        shape = self.constant(INT64, [-1, heads, features], [3])
        return self.node("Transpose", [self.node("Reshape", [states, shape])], perm=[1, 0, 2])

    def attend(self, query, key, value, features, mask=None):
        """Returns the heads' outputs side by side: [tokens, hidden]."""
        turned = self.node("Transpose", [key], perm=[0, 2, 1])
        scale = self.constant(FLOAT, [features ** -0.5], [])
        scores = self.node("Mul", [self.node("MatMul", [query, turned]), scale])
        if mask is not None:
            scores = self.node("Add", [scores, mask])
        mixed = self.node("MatMul", [self.node("Softmax", [scores], axis=-1), value])
        # 0 keeps the number of tokens, and -1 joins heads and features.
        return self.node("Reshape", [self.node("Transpose", [mixed], perm=[1, 0, 2]),
                                     self.constant(INT64, [0, -1], [2])])

    def model(self):
        graph = b"".join(self._parts) + field(2, "model")
        return (field(1, 9) + field(2, "footprint") + field(7, graph)
                + field(8, field(1, "") + field(2, OPSET)))

    def _name(self, word):
        self._count += 1
        return "%s_%d" % (word, self._count)


def sum_of_rows(graph, tables):
    """Returns the sum of the rows of several tables, each with its input of ids."""
    rows = [graph.node("Gather", [graph.weight(table), ids]) for table, ids in tables]
    total = rows[0]
    for row in rows[1:]:
        total = graph.node("Add", [total, row])
    return total


def add_bert(graph, config):
    heads, hidden = config["num_attention_heads"], config["hidden_size"]
    epsilon = float(config.get("layer_norm_eps", 1e-12))
    ids, positions, types = (
        graph.input(name, INT64, ["tokens"]) for name in ("ids", "positions", "types"))
    states = graph.norm(sum_of_rows(graph, [
        ("embeddings.word_embeddings.weight", ids),
        ("embeddings.position_embeddings.weight", positions),
        ("embeddings.token_type_embeddings.weight", types)]), "embeddings.LayerNorm", epsilon)
    for number in range(config["num_hidden_layers"]):
        layer = "encoder.layer.%d." % number
        query, key, value = (
            graph.by_head(graph.linear(states, layer + "attention.self." + name), heads,
                          hidden // heads) for name in ("query", "key", "value"))
        mixed = graph.attend(query, key, value, hidden // heads)
        mixed = graph.linear(mixed, layer + "attention.output.dense")
        states = graph.norm(graph.node("Add", [states, mixed]),
                            layer + "attention.output.LayerNorm", epsilon)
        inner = graph.node("Gelu", [graph.linear(states, layer + "intermediate.dense")])
        inner = graph.linear(inner, layer + "output.dense")
        states = graph.norm(graph.node("Add", [states, inner]), layer + "output.LayerNorm",
                            epsilon)
    graph.named("Identity", [states], [graph.output("states", ["tokens", hidden])])


def add_gpt2(graph, config):
    heads, hidden = config["n_head"], config["n_embd"]
    features = hidden // heads
    epsilon = float(config.get("layer_norm_epsilon", 1e-5))
    ids, positions = (graph.input(name, INT64, ["tokens"]) for name in ("ids", "positions"))
    mask = graph.input("mask", FLOAT, ["tokens", "all"])
    states = sum_of_rows(graph, [("wte.weight", ids), ("wpe.weight", positions)])
    # The order of the outputs is the order in which they are declared.
    logits = graph.output("logits", ["tokens", config["vocab_size"]])
    for number in range(config["n_layer"]):
        layer = "h.%d." % number
        fused = graph.linear(graph.norm(states, layer + "ln_1", epsilon),
                             layer + "attn.c_attn", out_first=False)
        query, *pair = (
            graph.by_head(part, heads, features)
            for part in graph.node("Split", [fused], outputs=3, axis=1, num_outputs=3))
        for half in range(2):
            name = str(2 * number + half)
            past = graph.input("past_" + name, FLOAT, [heads, "past", features])
            present = graph.output("present_" + name, [heads, "all", features])
            graph.named("Concat", [past, pair[half]], [present], axis=1)
            pair[half] = present
        mixed = graph.attend(query, *pair, features, mask)
        states = graph.node("Add", [
            states, graph.linear(mixed, layer + "attn.c_proj", out_first=False)])
        inner = graph.linear(graph.norm(states, layer + "ln_2", epsilon), layer + "mlp.c_fc",
                             out_first=False)
        inner = graph.node("Gelu", [inner], approximate="tanh")
        states = graph.node("Add", [
            states, graph.linear(inner, layer + "mlp.c_proj", out_first=False)])
    graph.named("Gemm", [graph.norm(states, "ln_f", epsilon), graph.weight("wte.weight")],
                [logits], transB=1)


def write(folder, path):
    """Raises ValueError for a model that is no GPT-2 or BERT of float32."""
    with open(folder + "/config.json", encoding="utf-8") as file:
        config = json.load(file)
    add = {"bert": add_bert, "gpt2": add_gpt2}.get(config.get("model_type"))
    if add is None:
        raise ValueError("the graph of a model of type %s is not known; there are bert and gpt2"
                         % config.get("model_type"))
    with open(folder + "/model.safetensors", "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
    graph = Graph(header, 8 + length)
    add(graph, config)
    with open(path, "wb") as file:
        file.write(graph.model())
