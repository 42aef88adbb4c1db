#!/usr/bin/env bash
# lowmem_embed as a user calls it, on the golden model of text_embedder_test.
set -uo pipefail
readonly EMBED=$PWD/lowmem/programs/lowmem_embed
readonly MODEL=$PWD/lowmem/models/testdata/golden_embedder
readonly RERANKER=$PWD/lowmem/models/testdata/golden_head_roberta
readonly CLASSIFIER=$PWD/lowmem/models/testdata/golden_head_bert
readonly GOLDEN=$PWD/lowmem/models/testdata/golden
readonly SPLIT=$PWD/lowmem/programs/split_checkpoint.py
failures=0
cd "$TEST_TMPDIR" || exit 1

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  failures=$((failures + 1))
}
# expect_error STATUS TEXT COMMAND...: the exit code, and what standard error says.
expect_error() {
  local status=$1 text=$2 got=0
  shift 2
  "$@" >out 2>err || got=$?
  [[ $got == "$status" ]] || fail "$*: exit code $got, wanted $status"
  grep -qF -- "$text" err || fail "$*: '$text' is not in: $(cat err)"
}

# One text and many must give the same vector; a file of numpy has the same numbers.
printf 'the cat\nA cat sat on the mat.\r\n\nthe cat\n' >lines
"$EMBED" "$MODEL" --text='the cat' >one 2>err || fail "one text: $(cat err)"
grep -q ' 1 text of .* tokens .* process .* at most' err || fail "statistics: $(cat err)"
"$EMBED" "$MODEL" --file=lines --threads=1 --budget=least --backend=direct >all 2>err ||
  fail "lines: $(cat err)"
[[ $(wc -l <all) == 4 ]] || fail "four lines gave $(wc -l <all)"
[[ $(sed -n 1p all) == "$(cat one)" && $(sed -n 4p all) == "$(cat one)" ]] ||
  fail "a text among others has another vector"
[[ $(sed -n 2p all) != "$(cat one)" ]] || fail "two texts have one vector"
for name in vectors.npy vectors.f32 vectors.jsonl; do
  "$EMBED" "$MODEL" --file=lines --output=$name --nostatistics 2>err || fail "$name: $(cat err)"
done
cmp -s vectors.jsonl all || fail "another file of JSON than standard output"
[[ $(wc -c <vectors.f32) == 512 ]] || fail "4 x 32 floats have $(wc -c <vectors.f32) bytes"
cmp -s <(tail -c 512 vectors.npy) vectors.f32 || fail "numpy's file has other numbers"
header=$(head -c 128 vectors.npy | tr -d '\0')
[[ $header == *"'descr': '<f4'"*"'shape': (4, 32)"* && $(wc -c <vectors.npy) == 640 ]] ||
  fail "numpy's header: $header"

# A text that is too long is cut, with a warning.
long=$(printf 'the %.0s' {1..60})
"$EMBED" "$MODEL" --text="$long" >out 2>err || fail "a long text: $(cat err)"
grep -q ' 1 text has more than the 24 tokens that the model takes: its end does not' err || fail "a long text: $(cat err)"
mkdir -p bare
cp "$MODEL"/{config.json,model.safetensors,tokenizer.json} bare/
"$EMBED" bare --text=the >out 2>err || fail "no modules.json: $(cat err)"
grep -q 'vectors are means, not normalised' err || fail "no modules.json: $(cat err)"

# Whitespace around a text changes nothing.
"$EMBED" "$MODEL" --text='  the cat ' >out 2>err || fail "spaces: $(cat err)"
cmp -s out one || fail "whitespace around a text gave another vector"

# An empty text counts as a text: the model reads the ids that the tokenizer adds.
"$EMBED" "$MODEL" --text= >out 2>err || fail "an empty text: $(cat err)"
cmp -s out <(sed -n 3p all) || fail "an empty text has another vector than an empty line"

# Prints scores of a pair in each form; the softmax scores of a text add up to one.
printf 'It sat.\nNo.\n' >answers
"$EMBED" "$RERANKER" --scores=logits --query='Where?' --file=answers >logits 2>err ||
  fail "logits: $(cat err)"
grep -q 'scores of 1;' err || fail "scores: $(cat err)"
"$EMBED" "$RERANKER" --scores=sigmoid --query='Where?' --file=answers >sigmoid 2>err ||
  fail "sigmoid: $(cat err)"
python3 - <<'PYTHON' || fail 'sigmoid is not that of the logits'
import json, math
read = lambda name: [json.loads(line) for line in open(name)]
pairs = list(zip(read("logits"), read("sigmoid")))
assert len(pairs) == 2 and pairs[0] != pairs[1]
assert all(abs(1 / (1 + math.exp(-a[0])) - b[0]) < 1e-6 for a, b in pairs)
PYTHON
"$EMBED" "$CLASSIFIER" --scores=softmax --text='It sat.' >softmax 2>err || fail "softmax: $(cat err)"
python3 -c 'import json; p = json.load(open("softmax")); assert len(p) == 3 and abs(sum(p) - 1) < 1e-6' ||
  fail "softmax: $(cat softmax)"
expect_error 2 'none of logits' "$EMBED" "$RERANKER" --scores=odd --text=a
expect_error 2 'give --scores, too' "$EMBED" "$RERANKER" --query=b --text=a
expect_error 1 "scores need a model with a classifier's head" "$EMBED" "$MODEL" --scores=logits --text=a
expect_error 1 'has no prompt "query"; it has none' "$EMBED" "$MODEL" --prompt_name=query --text=a

# Models whose tokens see each other give the vectors of transformers, from one file or several.
for model in modernbert nomic_bert embeddinggemma; do
  rm -rf shards
  cp -r "${GOLDEN}_$model" shards
  chmod -R u+w shards
  rm shards/model.safetensors
  python3 "$SPLIT" "${GOLDEN}_$model/model.safetensors" shards || fail "$model: no shards"
  python3 -c 'import json
for line in open("shards/expected.jsonl"): print(json.loads(line)[0])' >texts
  for backend in resident pread direct mmap; do
    "$EMBED" shards --file=texts --backend=$backend --budget=least --nostatistics >out 2>err ||
      fail "$model: $(cat err)"
    "$EMBED" "${GOLDEN}_$model" --file=texts --nostatistics >whole 2>err || fail "$model: $(cat err)"
    cmp -s out whole || fail "$model: shards have other vectors: $backend"
  done
  python3 - <<'PYTHON' || fail "$model: not the vectors of transformers"
import json
expected = [json.loads(line)[4] for line in open("shards/expected.jsonl")]
vectors = [json.loads(line) for line in open("out")]
assert len(expected) == len(vectors) > 2
for a, b in zip(expected, vectors):
    assert len(a) == len(b) and all(abs(x - y) < 1e-6 for x, y in zip(a, b))
PYTHON
done
# The weights may be in a folder of their own.
mkdir whole_model whole_model/0_Transformer
cp shards/model* shards/config.json shards/tokenizer.json shards/sentence_bert_config.json whole_model/0_Transformer
cp -r shards/*_* shards/modules.json whole_model
sed -i '0,/"path": ""/s//"path": "0_Transformer"/' whole_model/modules.json
touch whole_model/0_Transformer/model.gguf
"$EMBED" whole_model --file=texts --nostatistics >whole 2>err || fail "0_Transformer: $(cat err)"
cmp -s out whole || fail "0_Transformer: other vectors"
grep -q 'not whole_model/0_Transformer/model.gguf' err || fail "0_Transformer is silent: $(cat err)"
rm shards/model-1.safetensors
expect_error 1 'model-1.safetensors: cannot be opened' "$EMBED" shards --text=a
echo '{}' >shards/model.safetensors.index.json
expect_error 1 'not the index of a checkpoint in several files' "$EMBED" shards --text=a
expect_error 1 "has a decoder's layers" "$EMBED" "${GOLDEN}_modernbert" --scores=logits --text=a

expect_error 2 'takes one MODEL_DIR' "$EMBED"
expect_error 2 'one of --text and --file' "$EMBED" "$MODEL"
expect_error 2 'one of --text and --file' "$EMBED" "$MODEL" --text=a --file=lines
expect_error 2 'ends in none of .npy' "$EMBED" "$MODEL" --text=a --output=vectors.txt
expect_error 2 '--threads=0 is not from 1 to' "$EMBED" "$MODEL" --text=a --threads=0
expect_error 2 '--budget' "$EMBED" "$MODEL" --text=a --budget=many
expect_error 1 'already exists' "$EMBED" "$MODEL" --text=a --output=vectors.npy
expect_error 1 'an input, which it would replace' "$EMBED" "$MODEL" --file=vectors.jsonl \
  --output=vectors.jsonl --force
ln -s "$PWD/bare/tokenizer.json" link.npy
expect_error 1 'an input, which it would replace' "$EMBED" bare --text=a --output=link.npy --force
expect_error 1 'no_lines: cannot be opened' "$EMBED" "$MODEL" --file=no_lines
printf 'good\nb\xffd\n' >bad
expect_error 1 'bad: line 2: the text is not UTF-8' "$EMBED" "$MODEL" --file=bad
expect_error 1 'not a regular file' "$EMBED" "$MODEL" --file=/dev/null
: >empty
expect_error 1 'there is no line' "$EMBED" "$MODEL" --file=empty
expect_error 1 'is too small' "$EMBED" "$MODEL" --text=a --budget=4KiB
expect_error 1 'tokenizer.json of the published checkpoint' "$EMBED" . --text=a
[[ $failures == 0 ]] && echo "lowmem_embed_test: passed"
exit "$((failures > 0))"
