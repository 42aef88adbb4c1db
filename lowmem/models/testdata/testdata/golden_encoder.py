"""The encoder that the makers of golden BERT and DistilBERT share: its weights
under a family's names, and its forward pass in terms of a library's operations.

Used by make_golden_bert.py and make_golden_distilbert.py.
"""

import math
from typing import NamedTuple

import numpy

from golden_model import HIDDEN, Weights

LAYERS, HEADS, INTERMEDIATE = 2, 2, 80
VOCABULARY, POSITIONS, TOKENS = 24, 40, 37
# DistilBERT's is not in its config.
EPSILON = 1e-12


class Names(NamedTuple):
    """Names the weights as a family's public checkpoints do."""

    prefix: str
    layer: str  # with the number's place
    query: str
    key: str
    value: str
    attention_output: str
    attention_norm: str
    expand: str
    contract: str
    output_norm: str

    def embedding(self, name):
        return self.prefix + "embeddings." + name

    def in_layer(self, layer, name):
        return self.prefix + self.layer % layer + "." + name


def make_weights(names, types):
    """With `types` token types; none: the family has none."""
    weights = Weights()

    def add_linear(name, rows, columns):
        weights.add_linear(name, (rows, columns), rows)

    weights.add(names.embedding("word_embeddings.weight"), (VOCABULARY, HIDDEN))
    weights.add(names.embedding("position_embeddings.weight"), (POSITIONS, HIDDEN))
    if types > 0:
        weights.add(names.embedding("token_type_embeddings.weight"), (types, HIDDEN))
    weights.add_norm(names.embedding("LayerNorm"))
    for layer in range(LAYERS):
        for name in (names.query, names.key, names.value, names.attention_output):
            add_linear(names.in_layer(layer, name), HIDDEN, HIDDEN)
        weights.add_norm(names.in_layer(layer, names.attention_norm))
        add_linear(names.in_layer(layer, names.expand), INTERMEDIATE, HIDDEN)
        add_linear(names.in_layer(layer, names.contract), HIDDEN, INTERMEDIATE)
        weights.add_norm(names.in_layer(layer, names.output_norm))
    return weights


def encode(library, names, ids, types=None):
    """The encoder in terms of a library's operations."""
    weights = library.weights
    states = weights[names.embedding("word_embeddings.weight")][ids]
    if types is not None:
        states = states + weights[names.embedding("token_type_embeddings.weight")][types]
    states = states + weights[names.embedding("position_embeddings.weight")][: len(ids)]
    states = library.norm(states, names.embedding("LayerNorm"))
    features = HIDDEN // HEADS
    for layer in range(LAYERS):
        query, key, value = (
            library.linear(states, names.in_layer(layer, name))
            for name in (names.query, names.key, names.value)
        )
        context = []
        for head in range(HEADS):
            part = slice(head * features, (head + 1) * features)
            scores = query[:, part] @ key[:, part].T / math.sqrt(features)
            context.append(library.softmax(scores) @ value[:, part])
        attention = library.linear(
            library.stack(context), names.in_layer(layer, names.attention_output)
        )
        states = library.norm(
            states + attention, names.in_layer(layer, names.attention_norm)
        )
        inner = library.activation(
            library.linear(states, names.in_layer(layer, names.expand))
        )
        states = library.norm(
            states + library.linear(inner, names.in_layer(layer, names.contract)),
            names.in_layer(layer, names.output_norm),
        )
    return states


def gelu(x):
    """numpy's, in double precision."""
    erf = numpy.vectorize(math.erf)
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))
