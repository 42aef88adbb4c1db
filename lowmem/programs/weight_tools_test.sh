#!/usr/bin/env bash
# The programs as a person uses them; the README's commands among them.
set -euo pipefail
export PATH="$PWD/lowmem/programs:$PWD/lowmem/modules:$PWD/lowmem/weights:$PATH"
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
# An existing model stays without --force.
before=$(cksum <minilm/model.safetensors)
refuses 1 'minilm/config.json: is there already' lowmem_generate --seed=2 --layers=1 minilm
mv minilm/config.json kept
refuses 1 'minilm/model.safetensors: is there already' lowmem_generate --seed=2 --layers=1 minilm
mv kept minilm/config.json
[[ $(cksum <minilm/model.safetensors) == "$before" ]] || fail 'a model was overwritten'
lowmem_generate --force --seed=2 --layers=1 minilm 2>log
[[ $(cksum <minilm/model.safetensors) != "$before" ]] || fail '--force did nothing'
lowmem_generate --force --layers=1 minilm 2>log
[[ $(cksum <minilm/model.safetensors) == "$before" ]] || fail 'the seed is not what it was'
lowmem_pack minilm/model.safetensors minilm/packed.safetensors 2>log
grep -q '^packing \[#* *\] *100 % of' log || fail "no progress: $(cat log)"
# Another program, which only uses struct and json, reads the packed file.
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
# The largest is the last, wherever a tile of 64 rows ends.
python3 - <<'END'
import json, struct

def write(path, rows, columns, values):
    end = rows * columns * 4
    header = json.dumps({"m": {"dtype": "F32", "shape": [rows, columns], "data_offsets": [0, end]}})
    header += " " * (4096 - 8 - len(header))
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header.encode())
        file.write(struct.pack("<%df" % len(values), *values))
        file.truncate(4096 + end)

for rows in 1, 64, 65:
    write("rows%d" % rows, rows, 5, range(rows * 5))
write("sparse", 3 << 17, 1 << 11, [])
END
for rows in 1 64 65; do
  largest=$(stream_weights_example rows$rows m)
  [[ $largest == $((rows * 5 - 1))\ by\ * ]] || fail "of $rows rows: $largest"
done
# The file is shortened while 3 GiB of zeros are read, which takes seconds.
shortens() {
  "$@" &
  local reader=$!
  until [[ $(readlink /proc/$reader/fd/* 2>/dev/null) == *sparse* ]]; do
    kill -0 $reader 2>/dev/null || break
  done
  sleep 0.1
  truncate -s 8192 sparse
  wait $reader
}
refuses 1 'was shortened while it was in use' shortens stream_weights_example sparse m

# A user's model loads its modules when they are used. The bytes held depend on how far the thread
# that reads ahead has come.
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
# A model packed as in the README runs and gives the same bits as before.
lowmem_pack --panels='*.dense.weight=256' minilm/model.safetensors minilm/other.safetensors 2>log
mkdir all other
cp minilm/config.json all
cp minilm/config.json other
cp minilm/other.safetensors other/model.safetensors
lowmem_pack --panels='*.weight=256' minilm/model.safetensors all/model.safetensors 2>log
lowmem_run minilm --ids=1,2,3 --output=expected >log
for folder in other all; do
  lowmem_run $folder --ids=1,2,3 --force --output=output >log || fail "$folder does not run: $(cat log)"
  cmp expected output || fail "$folder has other bits"
done
# Narrower panels would cut sums; the error names the remedy.
refuses 1 'other/model.safetensors: is there already' \
  lowmem_pack --panels='*.dense.weight=64' minilm/model.safetensors other/model.safetensors
lowmem_pack --force --panels='*.dense.weight=64' minilm/model.safetensors other/model.safetensors 2>log
refuses 1 'multiples of 256' lowmem_run other --ids=1,2,3
advice=$(grep -o 'lowmem_pack .*' log)
$advice 2>log || fail "$advice: $(cat log)"
lowmem_run other --ids=1,2,3 --force --output=output >log
cmp expected output || fail "other bits after: $advice"

# Packing in place keeps a file's permissions and follows a link to it, but does not follow a
# planted link at the temporary file's name.
chmod 600 other/model.safetensors
ln -s ../other/model.safetensors all/link
lowmem_pack all/link all/link 2>log
[[ -L all/link ]] || fail 'a link was replaced'
[[ $(stat -c %a other/model.safetensors) == 600 ]] ||
  fail "permissions: $(stat -c %a other/model.safetensors)"
echo precious >victim
ln -s "$PWD/victim" .out.footprint-partial
refuses 1 '.out.footprint-partial: is a symbolic link' lowmem_pack minilm/model.safetensors out
[[ $(cat victim) == precious ]] || fail 'what the link led to was written over'
rm .out.footprint-partial
# A user's file whose name ends in .partial stays.
echo precious >mine.partial
lowmem_pack minilm/model.safetensors mine 2>log
[[ $(cat mine.partial) == precious ]] || fail 'a file of the user is gone'
rm mine mine.partial
# A limit of file sizes gives an error and does not end the program by a signal.
(
  ulimit -f 1000
  refuses 1 'raise the limit of file sizes' lowmem_pack minilm/model.safetensors out
  mkdir limited
  refuses 1 'raise the limit of file sizes' lowmem_generate --layers=1 limited
  # A block is 1 KiB: 300 tokens of 384 numbers do not fit.
  ulimit -f 100
  refuses 1 'raise the limit of file sizes' \
    lowmem_run minilm --random_ids=300 --output=out
)
[[ ! -e out && ! -e .out.footprint-partial ]] || fail 'something is left over'

refuses 1 'no tensor "encoder.layer.0.intermediate.dense.wieght"' \
  stream_weights_example minilm/model.safetensors encoder.layer.0.intermediate.dense.wieght
# All programs have one form of message and one set of exit codes: 2 for the command line, 1 for the
# files that it names.
refuses 2 'lowmem_pack: takes INPUT and OUTPUT' lowmem_pack minilm/model.safetensors
refuses 2 'lowmem_pack: "x" is no rule' lowmem_pack --panels=x minilm/model.safetensors out
refuses 2 'lowmem_pack: --panels and --no_panels' \
  lowmem_pack --panels='*=2' --no_panels minilm/model.safetensors out
refuses 1 'lowmem_pack: rule "x" matches no tensor' \
  lowmem_pack --panels=x=2 minilm/model.safetensors out
refuses 1 'lowmem_pack: missing: cannot be opened' lowmem_pack missing out
refuses 2 'lowmem_generate: takes one FOLDER' lowmem_generate
refuses 2 'lowmem_generate: no shape "bert"' lowmem_generate --shape=bert out
refuses 2 'lowmem_generate: no dtype "I8x"' lowmem_generate --dtype=I8x out
refuses 2 'lowmem_generate: weights are F32' lowmem_generate --dtype=I64 out
refuses 2 'lowmem_generate: --vocabulary=-5: at least 1' lowmem_generate --vocabulary=-5 out
refuses 2 '--layers=0: at least 1' lowmem_generate --layers=0 out
refuses 2 'do not divide among 5 heads' lowmem_generate --heads=5 out
refuses 1 'make the folder' lowmem_generate --layers=1 missing/folder
refuses 2 'lowmem_run: takes one MODEL_DIR' lowmem_run
for program in lowmem_run lowmem_pack lowmem_generate; do
  refuses 2 'nosuch' $program --nosuch=1 minilm
  $program --help >log 2>&1 || fail "$program --help exited $?"
  grep -q "$program " log || fail "$program --help said: $(cat log)"
  status=0
  $program --help >/dev/full 2>log || status=$?
  ((status == 1)) || fail "$program --help to a full device exited $status"
  grep -q "^$program: standard output: cannot be written" log || fail "$(cat log)"
done
[[ ! -e out ]] || fail 'a refused command wrote its output'
for example in "stream_weights_example minilm/model.safetensors $name" \
  'lazy_loading_example minilm/model.safetensors'; do
  status=0
  # shellcheck disable=SC2086
  timeout 60 $example >/dev/full 2>log || status=$?
  ((status == 1)) || fail "$example to a full device exited $status"
  grep -q "^${example%% *}: standard output: cannot be written" log || fail "$(cat log)"
done

# A name is printed in full, whatever it contains.
python3 - <<'END'
import struct
header = b'{"a\\u0000\\u001b[2Jb":{"dtype":"U9","shape":[0],"data_offsets":[0,0]}}'
with open("hostile", "wb") as file:
    file.write(struct.pack("<Q", len(header)) + header)
END
refuses 1 'tensor "a\x00\x1b[2Jb": dtype "U9"' lowmem_pack hostile out

# A pipe without a writer is refused.
mkfifo pipe
refuses 1 'pipe: not a regular file' timeout 20 lowmem_pack pipe out

# A run that is killed leaves the old file.
before=$(cksum <minilm/packed.safetensors)
lowmem_pack --force minilm/model.safetensors minilm/packed.safetensors 2>log &
kill -KILL $!
wait $! 2>log || true
[[ $(cksum <minilm/packed.safetensors) == "$before" ]] || fail "the old file changed"
