#!/usr/bin/env bash
# lowmem_chat and lowmem_tokenize as a user calls them, on a small model with
# weights from a seed and a real tokenizer of 704 words.
set -uo pipefail
readonly SCORED=$PWD/lowmem/models/testdata/golden_scores
readonly BIN=$PWD/lowmem/programs TOKENIZER=$PWD/lowmem/text/testdata/byte_level
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
  "$@" >out 2>err </dev/null || got=$?
  [[ $got == "$status" ]] || fail "$*: exit code $got, wanted $status"
  grep -qF -- "$text" err || fail "$*: '$text' is not in: $(cat err)"
}

lowmem_chat() { "$BIN/lowmem_chat" "$@"; }
lowmem_tokenize() { "$BIN/lowmem_tokenize" "$@"; }
lowmem_pack() { "$BIN/lowmem_pack" "$@"; }

"$BIN/lowmem_generate" --shape=smollm2-135m --vocabulary=704 --hidden=64 --layers=2 \
  --heads=4 --key_value_heads=2 --head_features=16 --intermediate=96 --positions=256 \
  model 2>/dev/null || fail "no model"
cp "$TOKENIZER/tokenizer.json" model/
chat() { lowmem_chat model "$@"; }

# The README's commands must give the same answer for every budget and backend.
lowmem_chat model --prompt="the " --generate=12 --budget=least >least 2>err ||
  fail "least: $(cat err)"
chat --prompt="the " --generate=12 --threads=1 --backend=resident >resident 2>/dev/null
chat --prompt="the " --generate=12 --budget=least --backend=direct >direct 2>/dev/null
cmp -s least direct || fail "another way of reading, another answer"
cmp -s least resident || fail "another budget, another answer"
grep -q 'tokens read in .* generated in .* a second' err || fail "statistics: $(cat err)"

# lowmem_run must generate the same ids.
ids=$(lowmem_tokenize model --text="the ")
run=$("$BIN/lowmem_run" model --ids="$ids" --generate=12 | sed -n 's/^tokens *//p' | tr ' ' ',')
"$BIN/lowmem_tokenize" model --ids="$run" --nospecial >text
cmp -s least text || fail "lowmem_run says '$(cat text)', lowmem_chat '$(cat least)'"

# The same model in one GGUF file must give the same answer and the same ids of the prompt.
"$BIN/gguf_of_checkpoint.py" model model.gguf || fail "no GGUF file"
lowmem_chat model.gguf --prompt="the " --generate=12 --budget=least >gguf 2>err ||
  fail "GGUF: $(cat err)"
cmp -s least gguf || fail "the folder answers '$(cat least)', the file '$(cat gguf)'"
[[ $(lowmem_tokenize model.gguf --text="the ") == "$ids" ]] || fail "other ids from the file"
"$BIN/lowmem_run" model.gguf --ids="$ids" --generate=2 --backend=direct >out 2>err ||
  fail "lowmem_run of a file: $(cat err)"
grep -q advice out && fail "advice to pack what is read as it is: $(cat out)"
# lowmem_pack refuses GGUF files, so the advice must not name it.
"$BIN/lowmem_generate" --shape=gpt2 --layers=1 --hidden=64 --heads=2 --intermediate=4000 \
  --vocabulary=20 --positions=40 wide 2>err || fail "a wide model: $(cat err)"
"$BIN/gguf_of_checkpoint.py" wide wide.gguf || fail "no wide GGUF file"
"$BIN/lowmem_run" wide.gguf --ids=1,2,3 --backend=direct --budget=least >out 2>err ||
  fail "a wide GGUF file: $(cat err)"
grep -q '^advice .* a larger --budget reads fewer' out || fail "no advice: $(cat out)"
grep -q lowmem_pack out && fail "advice that lowmem_pack refuses: $(cat out)"

# A quantised folder must give the same answer for every budget.
mkdir small && cp model/config.json model/tokenizer.json small/
lowmem_pack --quantize=q4_0 model/model.safetensors small/model.gguf 2>err ||
  fail "quantising: $(cat err)"
[[ $(stat -c %s small/model.gguf) -lt $(($(stat -c %s model/model.safetensors) / 6)) ]] ||
  fail "a quantised file is not small: $(stat -c %s small/model.gguf)"
lowmem_chat small --prompt="the " --generate=12 --budget=least >one 2>err || fail "q4_0: $(cat err)"
lowmem_chat small --prompt="the " --generate=12 --backend=resident --threads=1 >two 2>/dev/null
cmp -s one two || fail "quantised: another budget, another answer"
# Both files in one folder: the programs say which one runs.
mkdir both && cp model/* both/ && cp small/model.gguf both/
lowmem_chat both --prompt="the " --generate=12 --budget=least >two 2>err || fail "both: $(cat err)"
cmp -s two least || fail "both: model.safetensors does not run"
grep -q 'runs both/model.safetensors, not both/model.gguf beside it' err || fail "silent: $(cat err)"
"$BIN/lowmem_run" both --ids="$ids" >out 2>err
grep -q 'not both/model.gguf' err || fail "lowmem_run is silent: $(cat err)"

# Weights in several files: the same answer by every backend, and nothing is packed.
mkdir shards && cp model/config.json model/tokenizer.json shards/
python3 "$BIN/split_checkpoint.py" model/model.safetensors shards || fail "no shards"
for backend in resident pread direct mmap; do
  lowmem_chat shards --prompt="the " --generate=12 --backend=$backend --budget=least >two 2>err ||
    fail "shards: $(cat err)"
  cmp -s two least || fail "shards: another answer: $backend"
done
[[ ! -e shards/model.safetensors ]] || fail "shards: packed without a word"
cp small/model.gguf shards/
lowmem_chat shards --prompt="the " --generate=12 >two 2>err || fail "shards: $(cat err)"
cmp -s two least || fail "shards: the GGUF file beside them runs"
grep -q 'runs shards/model.safetensors.index.json, not shards/model.gguf' err ||
  fail "silent: $(cat err)"
expect_error 1 'name its folder' "$BIN/lowmem_chat" shards/model.safetensors.index.json --prompt=a
mv shards/model-1.safetensors kept
expect_error 1 'model-1.safetensors: cannot be opened' "$BIN/lowmem_chat" shards --prompt=a
head -c 5000 kept >shards/model-1.safetensors
expect_error 1 'truncated, download it again' "$BIN/lowmem_chat" shards --prompt=a
grep -q 'download it, too' err && fail "the file is there: $(cat err)"
mv kept shards/model-1.safetensors
sed -i 's/"weight_map": {/&"model.norm.weight": "model-0.safetensors", /' shards/model.safetensors.index.json
expect_error 1 '"model.norm.weight" occurs twice' "$BIN/lowmem_chat" shards --prompt=a

# Keys and values rounded: the same answer in every budget.
for type in f16 q8_0; do
  chat --prompt="the " --generate=12 --cache_type=$type --budget=least >one 2>err ||
    fail "$type: $(cat err)"
  chat --prompt="the " --generate=12 --cache_type=$type --threads=1 >two 2>/dev/null
  cmp -s one two || fail "$type: another budget, another answer"
  "$BIN/lowmem_run" model --ids="$ids" --generate=9 --cache_type=$type >out 2>err ||
    fail "lowmem_run $type: $(cat err)"
  grep -q "of keys and values in $type" out || fail "$type is not named: $(cat out)"
done
expect_error 2 'none of f32, f16 and q8_0' "$BIN/lowmem_chat" model --prompt=a --cache_type=q4_0

# With rounded activations: the same answer in every budget, and never without a word
# where nothing would be rounded.
lowmem_chat small --prompt="the " --generate=12 --arithmetic=int8 >three 2>err || fail "int8: $(cat err)"
int8() { lowmem_chat small --prompt="the " --generate=12 --arithmetic=int8 "$@"; }
int8 --budget=least >one 2>err || fail "int8: $(cat err)"
int8 --backend=resident --threads=1 >two 2>/dev/null
cmp -s one two || fail "int8: another budget, another answer"
cmp -s one three || fail "int8: the default budget gives another answer"
"$BIN/lowmem_run" small --ids="$ids" --arithmetic=int8 >out 2>err || fail "int8: $(cat err)"
grep -q '^arithmetic   int8 on .* matrices' out || fail "nothing says what was rounded: $(cat out)"
# Only matrices that are multiplied count: of a table of words, rows are looked up.
"$BIN/lowmem_generate" --shape=mistral-7b --vocabulary=704 --hidden=64 --layers=2 --heads=4 \
  --key_value_heads=2 --head_features=16 --intermediate=96 --positions=256 untied 2>err ||
  fail "no model: $(cat err)"
mkdir untied_small && cp untied/config.json untied_small/
lowmem_pack --quantize=q8_0 untied/model.safetensors untied_small/model.gguf 2>err ||
  fail "quantising: $(cat err)"
"$BIN/lowmem_run" untied_small --ids=1,2 --arithmetic=int8 >out 2>err || fail "untied: $(cat err)"
grep -q '^arithmetic   int8 on .* for 15 of 15 matrices$' out ||
  fail "seven matrices in each of two layers, and the output: $(cat out)"
expect_error 1 'lowmem_pack --quantize=q8_0 makes' "$BIN/lowmem_chat" model --prompt=a --arithmetic=int8
expect_error 1 'has no quantised matrix' "$BIN/lowmem_run" model --ids=1 --arithmetic=int8
expect_error 2 'neither exact nor int8' "$BIN/lowmem_chat" small --prompt=a --arithmetic=fast
expect_error 2 'there are q8_0 and q4_0' "$BIN/lowmem_pack" --quantize=q3 model/model.safetensors x
expect_error 2 'goes without --panels' "$BIN/lowmem_pack" --quantize=q8_0 --no_panels a b
expect_error 1 'already exists' "$BIN/lowmem_pack" --quantize=q8_0 model/model.safetensors small/model.gguf
expect_error 1 'needs no packing' "$BIN/lowmem_pack" model.gguf packed.safetensors
head -c 100000 model.gguf >cut.gguf
expect_error 1 'The file is damaged: download it again' "$BIN/lowmem_chat" cut.gguf --prompt=a

# Sampling must depend only on the seed.
chat --prompt=a --generate=8 --temperature=1 --seed=3 >one 2>/dev/null
chat --prompt=a --generate=8 --temperature=1 --seed=3 >two 2>/dev/null
chat --prompt=a --generate=8 --temperature=1 --seed=4 >three 2>/dev/null
cmp -s one two || fail "one seed, two answers"
cmp -s one three && fail "two seeds, one answer"

# Each line of a file gets the answer that it gets alone, in order, whatever its neighbours.
# A line without an answer says why, and the others are not lost.
{
  printf 'the \nand so on\n\n\xff\nof the people\n'
  printf 'word %.0s' {1..300}
  printf '\nthe \nlast'
} >prompts
python3 - <<'PYTHON' >json_prompts
import json
for text in ("the ", "and so on", "of the people", "the ", "last"):
    print(json.dumps(text))
PYTHON
for drawn in "" "--temperature=1 --seed=5"; do
  # shellcheck disable=SC2086
  for text in "the " "and so on" "of the people" "the " last; do
    chat --prompt="$text" --generate=12 $drawn 2>/dev/null | head -c -1 >one
    python3 -c 'import json; print(json.dumps(open("one", newline="").read()))'
  done >alone
  for flags in --sequences=1 --sequences=3 "--budget=8MiB --threads=1" --budget=least; do
    # shellcheck disable=SC2086
    chat --file=json_prompts --json --generate=12 $drawn $flags >out 2>err ||
      fail "a file, $flags: $(cat err)"
    python3 -c 'import json
for line in open("out"): print(json.dumps(json.loads(line)["text"]))' >two
    cmp -s alone two || fail "other answers than alone, $drawn $flags: $(cat out)"
  done
done
grep -q 'of the least for 60 passes' err || fail "one prompt after the other: $(cat err)"
chat --file=prompts --generate=12 --budget=8MiB >out 2>err && fail "bad lines are no error"
grep -q 'prompts: 3 of 8 lines have an error in place of an answer; line 3: the prompt is empty' err ||
  fail "nothing says which lines failed: $(cat err)"
grep -q '^together     5 prompts of at most ' err || fail "how many share a reading: $(cat err)"
grep -q '^least .* for each token of 5 sequences' err || fail "no certificate: $(cat err)"
grep -q 'of the least for 12 passes' err || fail "the passes: $(cat err)"
python3 - <<'PYTHON' || fail "a file with bad lines: $(cat out)"
import json
lines = [json.loads(line) for line in open("out")]
assert [line["line"] for line in lines] == list(range(1, 9)), lines
errors = {line["line"]: line["error"] for line in lines if "error" in line}
assert sorted(errors) == [3, 4, 6], errors
assert "UTF-8" in errors[4] and "model's positions are 256" in errors[6], errors
assert all(line["tokens"] == 12 and line["cut_off"] for line in lines if "error" not in line)
assert lines[0]["text"] == lines[6]["text"]
PYTHON
: >empty
expect_error 1 '--file: there is no line' "$BIN/lowmem_chat" model --file=empty
expect_error 1 'no_such_file: ' "$BIN/lowmem_chat" model --file=no_such_file
expect_error 2 'one of --prompt, --score and --file' "$BIN/lowmem_chat" model --file=prompts --prompt=a
expect_error 2 'go with --file' "$BIN/lowmem_chat" model --prompt=a --sequences=2
expect_error 2 '--sequences=0 is not from 1 to 256' "$BIN/lowmem_chat" model --file=prompts --sequences=0
expect_error 1 'sequences of' "$BIN/lowmem_chat" model --file=json_prompts --sequences=5 --budget=64KiB
grep -q 'need at least .*; this budget is enough for [0-4] sequences' err ||
  fail "how many sequences fit: $(cat err)"

# A conversation has one turn a line. It ends with the input, or when the context is full.
printf 'hello\n\nand you?\n' | chat --generate=3 --context=64 >out 2>err ||
  fail "a conversation: $(cat err)"
[[ $(grep -c 'tokens read' err) == 2 ]] || fail "two turns: $(cat err)"
printf 'hello\nagain and again\n' | chat --generate=3 --context=8 >out 2>err &&
  fail "eight tokens had room for two turns"
grep -q 'give a larger --context' err || fail "no room: $(cat err)"

# An answer without a limit ends with the model's positions.
chat --prompt="the " --generate=1000 >one 2>err || fail "to the end: $(cat err)"
grep -qE ' 2[0-9][0-9] generated' err || fail "to the end: $(cat err)"
chat --prompt="the " --generate=9223372036854775807 >two 2>err || fail "no limit: $(cat err)"
cmp -s one two || fail "no limit, another answer: $(cat err)"
echo 'the ' >the
for generate in 1000 9223372036854775807; do
  chat --file=the --generate=$generate >out 2>err || fail "a file without a limit: $(cat err)"
  grep -q "$(head -c 40 one)" out || fail "a file, --generate=$generate: $(cat out)"
done
# No flag makes room for a longer text.
long=$(printf 'the and %.0s' {1..300})
for flag in --prompt --score; do
  expect_error 1 'positions, but the model has 256: give a shorter text' "$BIN/lowmem_chat" model \
    "$flag=$long"
done

# The generation ends at a stop id.
first=${run%%,*}
sed -i "s/^{/{\"eos_token_id\": $first,/" model/config.json
chat --prompt="the " --generate=12 >out 2>err || fail "a stop: $(cat err)"
[[ $(cat out) == "" ]] || fail "it went on after the stop: $(cat out)"
grep -q '1 generated' err || fail "a stop: $(cat err)"

# The vocabulary tells the family, whose turns are used.
mkdir chatml
cp model/config.json model/model.safetensors chatml/
sed 's/"<|start|>"/"<|im_start|>"/; s/"<|end|>"/"<|im_end|>"/' model/tokenizer.json \
  >chatml/tokenizer.json
"$BIN/lowmem_chat" chatml --prompt=hi --generate=1 2>err >out || fail "ChatML: $(cat err)"
turn=$("$BIN/lowmem_tokenize" chatml --nospecial \
  --text=$'<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n' | tr ',' '\n' | wc -l)
grep -q "chat: $turn tokens read" err || fail "ChatML's turn has $turn tokens: $(cat err)"
"$BIN/lowmem_chat" chatml --prompt=hi --generate=1 --raw 2>err >out
grep -q "chat: $turn tokens read" err && fail "--raw: $(cat err)"

# An empty prompt counts as a prompt: nothing is read from standard input.
chat --prompt= --generate=1 </dev/null >out 2>err || fail "an empty prompt: $(cat err)"
grep -q 'chat: 1 tokens read' err || fail "an empty prompt: $(cat err)"
[[ $("$BIN/lowmem_tokenize" model --text=) == "$("$BIN/lowmem_tokenize" model --text=a | cut -d, -f1)" ]] ||
  fail "an empty text has other ids than the first one"

# The log-likelihood of a text must be that of transformers in double precision.
"$BIN/lowmem_chat" "$SCORED" --score='A cat sat on the mat.' >scores 2>err || fail "scores: $(cat err)"
python3 - "$SCORED/expected.jsonl" <<'PYTHON' || fail "other likelihoods: $(cat scores)"
import json, sys
text, ids, wanted, error = json.loads(open(sys.argv[1]).readline())
lines = [json.loads(line) for line in open("scores")]
assert [line["id"] for line in lines] == ids
assert "".join(line["text"] for line in lines[1:]) == text
assert lines[0]["log_likelihood"] is None
pairs = zip(lines[1:], wanted)
assert all(abs(line["log_likelihood"] - want) < 1e-4 for line, want in pairs)
PYTHON
grep -q '10 tokens have log-likelihood -.* perplexity' err || fail "scores: $(cat err)"
expect_error 1 'fewer than two tokens' "$BIN/lowmem_chat" "$SCORED" --score=
expect_error 2 'one of --prompt, --score and --file' "$BIN/lowmem_chat" "$SCORED" --score=a --prompt=b

# Each error must have its message and its exit code.
expect_error 2 'takes one MODEL_DIR' "$BIN/lowmem_chat"
expect_error 2 '--generate must be at least 1 token' "$BIN/lowmem_chat" model --generate=0
expect_error 2 '--temperature must be 0 or more' "$BIN/lowmem_chat" model --temperature=-1
expect_error 2 '--top_p must be above 0' "$BIN/lowmem_chat" model --top_p=0
expect_error 2 '--top_k must be 0 or more' "$BIN/lowmem_chat" model --top_k=-1
expect_error 2 '--threads=0 is not from 1 to' "$BIN/lowmem_chat" model --threads=0
expect_error 2 '--budget' "$BIN/lowmem_chat" model --budget=many
expect_error 2 'backend' "$BIN/lowmem_chat" model --backend=tape
expect_error 1 'is too small' "$BIN/lowmem_chat" model --prompt=a --budget=4KiB
expect_error 1 'but the model has 256 positions' "$BIN/lowmem_chat" model --prompt=a --context=300
expect_error 1 'the text is not UTF-8' "$BIN/lowmem_chat" model --prompt=$'\xff'
expect_error 2 '--raw sends no system message' "$BIN/lowmem_chat" chatml --prompt=a --system=b --raw
expect_error 1 'takes no system message' "$BIN/lowmem_chat" model --prompt=a --system=b
expect_error 1 'tokenizer.json of the published checkpoint' "$BIN/lowmem_chat" . --prompt=a
"$BIN/lowmem_generate" --shape=smollm2-135m --vocabulary=300 --hidden=64 --layers=1 \
  --heads=4 --key_value_heads=2 --head_features=16 --intermediate=96 other 2>/dev/null
cp model/tokenizer.json other/
expect_error 1 'they are not of one checkpoint' "$BIN/lowmem_chat" other --prompt="the and"

# Ids and texts.
expect_error 2 'one of --text, --file and --ids' "$BIN/lowmem_tokenize" model
expect_error 1 '"x" is not a number' "$BIN/lowmem_tokenize" model --ids=1,x
expect_error 1 'but there are 704 words' "$BIN/lowmem_tokenize" model --ids=704
printf 'one\n\ntwo\n' >lines
[[ $("$BIN/lowmem_tokenize" model --file=lines | wc -l) == 3 ]] || fail "three lines"
printf '"a\\nb"\nno\n' >json
expect_error 1 'json: line 2: is not a JSON string' "$BIN/lowmem_tokenize" model --file=json --json
[[ $failures == 0 ]] && echo "lowmem_chat_test: passed"
exit "$((failures > 0))"
