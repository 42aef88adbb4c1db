#!/usr/bin/env bash
# The programs as a person uses them; the README's commands among them.
set -euo pipefail
export PATH="$PWD/lowmem:$PATH"
cd "$TEST_TMPDIR"

fail() {
  printf 'weight_tools_test: %s\n' "$*" >&2
  exit 1
}
# Runs a command that must fail with the status and say the text.
refuses() {
  local wanted=$1 text=$2 status=0
  shift 2
  "$@" >log 2>&1 || status=$?
  ((status == wanted)) || fail "$* exited $status, not $wanted: $(cat log)"
  grep -qF -- "$text" log || fail "$* said: $(cat log)"
}

lowmem_generate --shape=minilm --layers=1 minilm 2>log
grep -q '100 % of' log || fail "no progress: $(cat log)"
lowmem_pack minilm/model.safetensors minilm/packed.safetensors 2>log
grep -q '^packing \[#* *\] *100 % of' log || fail "no progress: $(cat log)"
# Another program reads the packed file: struct and json alone.
python3 - <<'END' || fail "the packed file is not the same weights"
import json, struct

def read(path):
    data = open(path, "rb").read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    metadata = header.pop("__metadata__")
    tensors = {}
    end = 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, stop = entry["data_offsets"]
        assert begin == end, name
        end = stop
        tensors[name] = (entry["shape"], data[8 + length + begin : 8 + length + stop], 8 + length + begin)
    assert 8 + length + end == len(data)
    return metadata, tensors

_, before = read("minilm/model.safetensors")
metadata, packed = read("minilm/packed.safetensors")
packed = {n: t for n, t in packed.items() if not n.startswith("__padding__")}
assert before.keys() == packed.keys()
panels = 0
for name, (shape, values, _) in before.items():
    packed_shape, packed_values, offset = packed[name]
    assert offset % 4096 == 0, name
    text = metadata.get("panels:" + name)
    if text is None:
        assert (packed_shape, packed_values) == (shape, values), name
        continue
    panels += 1
    rows, columns = shape
    count, _, width = packed_shape
    assert text == "%dx%d/%d" % (rows, columns, width)
    row_bytes = columns * 4
    rebuilt = b"".join(
        packed_values[(p * rows + r) * width * 4 : (p * rows + r + 1) * width * 4]
        for r in range(rows) for p in range(count)
    )
    assert rebuilt == values, name
assert panels == 1, panels
END
name=encoder.layer.0.intermediate.dense.weight
first=$(stream_weights_example minilm/model.safetensors $name)
second=$(stream_weights_example minilm/packed.safetensors $name)
[[ $first == "$second" && $first == 0.* ]] || fail "$first is not $second"

# A user's model, its modules loaded when used.
# How much is held depends on how far the thread that reads ahead has come.
first=$(lazy_loading_example minilm/model.safetensors)
second=$(lazy_loading_example minilm/packed.safetensors)
[[ ${first%% in *} == "${second%% in *}" ]] ||
  fail "$first is not $second"
for line in "$first" "$second"; do
  [[ $line =~ \ in\ ([0-9]+)\ of\ 51608064\ bytes$ ]] || fail "no bytes in $line"
  ((BASH_REMATCH[1] <= 6 << 20)) || fail "the example holds too much: $line"
done
refuses 1 'missing: cannot be opened' lazy_loading_example missing

lowmem_pack --no_panels minilm/packed.safetensors minilm/again.safetensors 2>log
lowmem_pack --panels='*.dense.weight=64' minilm/model.safetensors minilm/other.safetensors 2>log

refuses 1 'no tensor "encoder.layer.0.intermediate.dense.wieght"' \
  stream_weights_example minilm/model.safetensors encoder.layer.0.intermediate.dense.wieght
refuses 2 'takes INPUT and OUTPUT' lowmem_pack minilm/model.safetensors
refuses 2 'is no rule' lowmem_pack --panels=x minilm/model.safetensors out
refuses 1 'matches no tensor' lowmem_pack --panels=x=2 minilm/model.safetensors out
refuses 1 'cannot be opened' lowmem_pack missing out
refuses 2 'no shape "bert"' lowmem_generate --shape=bert out
refuses 2 'no dtype "I8x"' lowmem_generate --dtype=I8x out
refuses 1 'make the folder' lowmem_generate --layers=1 missing/folder

# A run that is killed leaves the old file.
before=$(cksum <minilm/packed.safetensors)
lowmem_pack minilm/model.safetensors minilm/packed.safetensors 2>log &
kill -KILL $!
wait $! 2>log || true
[[ $(cksum <minilm/packed.safetensors) == "$before" ]] || fail "the old file changed"
