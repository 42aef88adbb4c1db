#!/usr/bin/env bash
# Adapters need less memory than all weights, and less again if the base stays in its
# file. Whatever the budget, they become the same adapters.
set -euo pipefail

fail() {
  printf 'lora_bert_test: %s\n' "$*" >&2
  exit 1
}
readonly PROGRAM=$PWD/trainer_manager/programs/lora_bert
readonly SHAPE=(--words=500 --layers=2 --width=128 --positions=32)
cd "$TEST_TMPDIR"

output=$("$PROGRAM" "${SHAPE[@]}") || fail "exited $?"
# Adapters: 2 layers of 2 x (8 x 128 + 128 x 8), and the head's 128 x 2 + 2.
grep -Eq '^adapters: .* states 0\.1, gradients 0\.0,' <<<"$output" || fail "printed $output"
awk '/^whole:/ {whole = $2} /^adapters:/ {adapters = $2} /^base in its file:/ {reads = $5}
     END {exit !(adapters < whole * 0.6 && reads < adapters * 0.9)}' \
  <<<"$output" || fail "the plans are not smaller: $output"

status=0
"$PROGRAM" --rank=2000 >/dev/null 2>log || status=$?
((status == 1)) || fail "a rank above the width: exited $status"
grep -q 'a rank from 1 to 1024' log || fail "$(cat log)"

# What is wrong ends the program before it trains.
for flags in --budget_bytes=-5 --steps=0 --threads=0 --threads=65 --adapters=nowhere stray; do
  status=0
  output=$("$PROGRAM" "${SHAPE[@]}" "$flags" 2>&1) || status=$?
  ((status == 1)) || fail "$flags: exited $status: $output"
  grep -qF -- "${flags%%=*}" <<<"$output" || fail "$flags: $output"
done

# A checkpoint with the names and layouts of a published BertModel.
python3 -B - <<'END'
import json, random, struct
random.seed(1)
shapes = {"embeddings.word_embeddings.weight": [500, 128],
          "embeddings.token_type_embeddings.weight": [2, 128],
          "embeddings.position_embeddings.weight": [32, 128],
          "embeddings.LayerNorm.weight": [128], "embeddings.LayerNorm.bias": [128],
          "pooler.dense.weight": [128, 128], "pooler.dense.bias": [128]}
for layer in ("encoder.layer.0.", "encoder.layer.1."):
    for name, rows, columns in (("attention.self.query", 128, 128), ("attention.self.key", 128, 128),
                                ("attention.self.value", 128, 128),
                                ("attention.output.dense", 128, 128),
                                ("intermediate.dense", 512, 128), ("output.dense", 128, 512)):
        shapes[layer + name + ".weight"] = [rows, columns]
        shapes[layer + name + ".bias"] = [rows]
    for name in ("attention.output.LayerNorm", "output.LayerNorm"):
        shapes[layer + name + ".weight"] = [128]
        shapes[layer + name + ".bias"] = [128]
header, data = {}, b""
for name, shape in shapes.items():
    count = shape[0] * (shape[1] if len(shape) > 1 else 1)
    center = 1 if "LayerNorm.weight" in name else 0
    values = struct.pack("<%df" % count, *(center + random.uniform(-0.1, 0.1) for _ in range(count)))
    header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
    data += values
text = json.dumps(header).encode()
with open("base.safetensors", "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
END

train() {
  local folder=$1
  shift
  mkdir "$folder"
  "$PROGRAM" "${SHAPE[@]}" --base=base.safetensors --steps=3 --swap_folder="$PWD" \
    --adapters="$folder" "$@" >"$folder/log" || fail "$* exited $?"
}
train memory --in_memory
train file
train budget --budget_bytes=700000
train roomy --budget_bytes=1000000 --threads=2
grep -q '^step 3: loss [0-9.]*, ' memory/log || fail "$(cat memory/log)"
for folder in file budget roomy; do
  cmp memory/adapter_model.safetensors "$folder/adapter_model.safetensors" ||
    fail "$folder has other adapters"
done
# The larger budget reads less.
for folder in budget roomy; do
  sed -nE 's/.* a step reads ([0-9.]+) of weights \(([0-9.]+) at least\).*/\1 \2/p' "$folder/log"
done >reads
awk 'NR == 1 {first = $1} {exit_if = $1 < $2 ? 1 : exit_if} END {exit exit_if || !($1 < first)}' reads ||
  fail "read: $(cat reads)"
echo passed
