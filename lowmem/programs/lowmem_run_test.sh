#!/usr/bin/env bash
# Models from folders, as a person runs them: every family, backend and element
# type; batches; generation; and what is said where something is wrong.
set -euo pipefail
tree=$PWD
export PATH="$tree/lowmem/programs:$PATH"
cd "$TEST_TMPDIR"

fail() {
  printf 'lowmem_run_test: %s\n' "$*" >&2
  exit 1
}
run() { lowmem_run --force "$@" >log 2>&1 || fail "lowmem_run $* exited $?: $(cat log)"; }
says() { grep -qE -- "$1" log || fail "no \"$1\" in: $(cat log)"; }
# Runs a command that must fail with the status and say the text.
refuses() {
  local wanted=$1 text=$2 status=0
  shift 2
  lowmem_run "$@" >log 2>&1 || status=$?
  ((status == wanted)) || fail "lowmem_run $* exited $status, not $wanted: $(cat log)"
  grep -qF -- "$text" log || fail "lowmem_run $* said: $(cat log)"
}

readonly SMALL=(--layers=2 --hidden=128 --heads=2 --intermediate=600
  --vocabulary=100 --positions=40)
# The smallest budget and one for everything take turns, so that each backend runs with both, on
# plain and on packed files.
turn=0
for shape in minilm distilbert gpt2; do
  for dtype in F32 BF16 F16; do
    turn=$((1 - turn))
    lowmem_generate --shape=$shape "${SMALL[@]}" --dtype=$dtype $shape.$dtype 2>log
    cp -r $shape.$dtype $shape.$dtype.packed
    lowmem_pack $shape.$dtype.packed/model.safetensors \
      $shape.$dtype.packed/model.safetensors 2>log
    run $shape.$dtype --ids=1,2,99,3 --backend=resident --output=expected
    for backend in pread direct mmap; do
      for folder in $shape.$dtype $shape.$dtype.packed; do
        turn=$((1 - turn))
        budget=--budget=100MiB
        ((turn == 0)) || budget=--budget=least
        # The smallest budget would take a disk read for every few columns of every row.
        [[ $shape.$backend$budget != gpt2.direct--budget=least ]] || budget=--budget=400KiB
        run $folder --ids=1,2,99,3 --backend=$backend $budget --output=output
        cmp expected output || fail "other bits: $folder $backend $budget"
      done
    done
  done
done

# The README's first commands.
lowmem_generate --shape=minilm minilm 2>log
lowmem_run minilm --ids=101,7592,102 --budget=1MiB >log 2>&1 || fail "README: $(cat log)"
says '^states .*-0.743926 0.337618'
python3 -B "$tree/tools/docs/check_outputs.py" --tree="$tree" lowmem/README.md \
  --command='lowmem_run minilm --ids=101,7592,102 --budget=1MiB' <log || fail "the README: $(cat log)"
rm -r minilm

# An output that cannot be written is reported before the run.
refuses 1 'nowhere/output' minilm.F32 --ids=1,2,3 --output=nowhere/output
! grep -q '^time' log || fail "it ran before it looked at --output: $(cat log)"

# An existing file stays without --force; a file of the model stays even with it.
echo precious >states
cp states before
for output in states minilm.F32/model.safetensors; do
  before=$(cksum <$output)
  refuses 1 "$output" minilm.F32 --ids=1,2,3 --output=$output
  [[ $(cksum <$output) == "$before" ]] || fail "$output was replaced"
done
refuses 1 'states: already exists; name another file, or give --force' \
  minilm.F32 --ids=1,2,3 --output=states
ln -s model.safetensors minilm.F32/link
for output in model.safetensors config.json link; do
  before=$(cksum <minilm.F32/$output)
  refuses 1 'is a file of the model' minilm.F32 --ids=1,2,3 --force --output=minilm.F32/$output
  [[ $(cksum <minilm.F32/$output) == "$before" ]] || fail "$output was replaced"
done
rm minilm.F32/link
run minilm.F32 --ids=1,2,3 --output=states
! cmp -s before states || fail '--force replaced nothing'
: >empty
lowmem_run minilm.F32 --ids=1,2,3 --output=empty >log || fail "an empty file: $(cat log)"

# Tensors of the file that this model does not use are named.
run minilm.F32 --ids=1,2,3
grep -qF 'unused       2 tensors of the file do not belong to this model: pooler.dense.weight, pooler.dense.bias' log ||
  fail "the pooler is not named: $(cat log)"
cp -r minilm.F32 adapted
python3 - adapted/model.safetensors <<'END'
import json, struct, sys

data = open(sys.argv[1], "rb").read()
(length,) = struct.unpack("<Q", data[:8])
header = json.loads(data[8 : 8 + length])
end = len(data) - 8 - length
for name in ["classifier.weight", "a.lora_A\x1b[2J", "embeddings.position_ids"]:
    header[name] = {"dtype": "F32", "shape": [1], "data_offsets": [end, end + 4]}
    end += 4
text = json.dumps(header).encode()
open(sys.argv[1], "wb").write(struct.pack("<Q", len(text)) + text + data[8 + length :] + bytes(12))
END
run adapted --ids=1,2,3 --output=output
grep -qF 'unused       4 tensors of the file do not belong to this model: pooler.dense.weight, pooler.dense.bias, classifier.weight, a.lora_A\x1b[2J' log ||
  fail "they are not named: $(cat log)"
cmp states output || fail 'other bits with tensors that are not used'
rm -r adapted states empty before

# The report.
run minilm.F32 --ids=1,2,3 --budget=1MiB --layers
for text in '^budget  .*1.00 MiB' '^arena .* planned, .* resident' '^process .* VmHWM' \
  '^weights .* delivered, .* read in' '^time .* s, .* GFLOP/s' '^  embeddings' '^  layer 1 '; do
  says "$text"
done

# The rates by clock and by processor must lead back to the same number of operations. A pipe of
# packets keeps each write separate, so each pass has a report.
python3 - minilm.F32 <<'END' || fail 'the times of passes'
import os, re, subprocess, sys

reader, writer = os.pipe2(os.O_DIRECT)
tokens, layers, hidden, intermediate = 40, 2, 128, 600
with subprocess.Popen(["lowmem_run", sys.argv[1], "--random_ids=%d" % tokens, "--repeat=3"],
                      stdout=writer) as process:
    os.close(writer)
    reports = []
    while packet := os.read(reader, 1 << 16):
        reports += [packet.decode()]
assert process.returncode == 0
times = [re.findall(r"^time .*", report, re.M) for report in reports]
assert sum(map(len, times)) == 3 and max(map(len, times)) == 1, reports
expected = 1e-9 * 2 * layers * tokens * (
    4 * hidden * hidden + 2 * hidden * intermediate + 2 * tokens * hidden)
for (line,) in filter(None, times):
    by_clock, by_processor = re.findall(r"([0-9.]+) s, ([0-9.]+) GFLOP/s", line)
    for seconds, rate in (by_clock, by_processor):
        # The tolerance is that of the printed digits: four of seconds, one of operations.
        least = (float(seconds) - 5e-5) * (float(rate) - 0.05)
        most = (float(seconds) + 5e-5) * (float(rate) + 0.05)
        assert least <= expected <= most, (line, expected)
END

# A chosen budget costs almost no time, and the report names the smallest budget.
for folder in minilm.F32 gpt2.F32.packed; do
  run $folder --ids=1,2,3 --output=expected
  says '^budget .*, predicted to take 1\.[01][0-9] of the time with 64\.0 MiB; least .*, [1-9]'
  least=$(sed -n 's/^budget .*; least \(.*\), .*/\1/p' log)
  run $folder --ids=1,2,3 --budget=least --output=output
  says "^budget +$least\$"
  cmp expected output || fail "other bits in the least budget: $folder"
done

# The report names unneeded bytes with a remedy, and says nothing if there are none.
run minilm.F32.packed --ids=1,2,3 --backend=direct --budget=least
! grep -q '^advice' log || fail "nothing to fix: $(cat log)"
lowmem_generate --shape=gpt2 --layers=1 --hidden=128 --heads=2 --intermediate=256 \
  --vocabulary=100 --positions=40 short_rows 2>log
run short_rows --ids=1,2,3 --output=expected
! grep -q '^advice' log || fail "nothing to fix: $(cat log)"
run short_rows --ids=1,2,3 --backend=direct --budget=least
says '^advice .* of the .* read were not needed'
budget=$(grep -oE -- '--budget=[0-9]+' log)
advice=$(grep -o 'lowmem_pack short_rows/.*' log)
$advice 2>log || fail "$advice: $(cat log)"
# The file is packed, but the smallest budget has no room for a panel.
run short_rows --ids=1,2,3 --backend=direct --budget=least
says "$budget or more"
! grep -q 'lowmem_pack' log || fail "it is packed: $(cat log)"
run short_rows --ids=1,2,3 --backend=direct "$budget" --output=output
! grep -q '^advice' log || fail "mended: $(cat log)"
cmp expected output || fail 'other bits than before it was packed'

# The advised budget is the smallest with room for panels, here more than twice the smallest with
# which the model runs.
lowmem_generate --shape=gpt2 --layers=1 --hidden=256 --heads=1 --intermediate=256 \
  --vocabulary=20 --positions=40 long_rows 2>log
run_long() { run long_rows --ids=1 --backend=direct --threads=4 "$1"; }
run_long --budget=least
budget=$(grep -oE -- '--budget=[0-9]+' log)
run_long "--budget=$((${budget#*=} / 2))"
says "$budget or more"
run_long "--budget=$((${budget#*=} - 4096))"
says "$budget or more"
run_long "$budget"
! grep -q 'or more' log || fail "it has room for panels: $(cat log)"

# In a control group, its limit bounds the plan. A run that does not fit is refused before anything
# is read, and is not killed.
group=
if [[ -f /sys/fs/cgroup/cgroup.controllers ]]; then
  hierarchy=/sys/fs/cgroup limit=memory.max
  own=$(sed -n 's/^0:://p' /proc/self/cgroup)
else
  hierarchy=/sys/fs/cgroup/memory limit=memory.limit_in_bytes
  own=$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
fi
leave_group() { [[ -z $group ]] || rmdir "$group" 2>/dev/null || true; }
trap leave_group EXIT
# in_group BYTES ARGUMENT...: lowmem_run in a new group; its status is status.
in_group() {
  local bytes=$1
  shift
  mkdir "$group" && echo "$bytes" >"$group/$limit" || fail "no group $group"
  status=0
  (
    echo "$BASHPID" >"$group/cgroup.procs"
    exec lowmem_run "$@"
  ) >log 2>&1 || status=$?
  until rmdir "$group" 2>/dev/null; do [[ -d $group ]] || break; done
}
group=$hierarchy$own/footprint-lowmem-$$
if mkdir "$group" 2>/dev/null && [[ -w $group/$limit ]] && rmdir "$group"; then
  lowmem_generate --shape=minilm --layers=6 --vocabulary=2000 grouped 2>log
  run grouped --ids=1 --backend=direct --output=expected
  for arguments in '' --backend=direct --backend=pread; do
    # shellcheck disable=SC2086
    in_group $((16 << 20)) grouped --ids=1 $arguments --force --output=output
    ((status == 0)) || fail "in 16 MiB, $arguments: $status: $(cat log)"
    cmp expected output || fail "other bits in a group, $arguments"
    says '^budget .*, limited by the free memory of the control group '
    if [[ $arguments == --backend=pread ]]; then
      says '^advice .* do not stay in the page cache.*--backend=direct'
    else
      says '^weights +direct'
      ! grep -q 'do not stay' log || fail "it thrashes: $(cat log)"
    fi
  done
  in_group $((16 << 20)) grouped --ids=1 --backend=direct --budget=30MiB
  ((status == 1)) || fail "30 MiB in 16: $status: $(cat log)"
  says 'a budget of 30.0 MiB does not fit: .* are free in the control group .*give --budget=[0-9]+ or less'
  fitting=$(grep -oE -- '--budget=[0-9]+' log)
  in_group $((16 << 20)) grouped --ids=1 --backend=direct "$fitting"
  ((status == 0)) || fail "$fitting, as it was advised: $status: $(cat log)"
  in_group $((16 << 20)) grouped --ids=1 --backend=resident
  ((status == 1)) || fail "resident: $status: $(cat log)"
  says 'all weights at once take .* are free in the control group .*--backend=direct'
  in_group $((12 << 20)) grouped --random_ids=500 --batch=16
  ((status == 1)) || fail "a batch in 12 MiB: $status: $(cat log)"
  says 'the least budget of this run is [0-9]+ bytes, and only .* are free in the control group'
else
  rmdir "$group" 2>/dev/null || true
  group=
  echo 'NOT TESTED: control groups; they need root' >&2
fi

# A batch must equal its sequences.
run minilm.F32 --ids='5,6,7' --output=first
run minilm.F32 --ids='8,9' --output=second
run minilm.F32 --ids='5,6,7;8,9' --output=both
cat first second | cmp - both || fail 'a batch has other bits than its sequences'

# So must the sequences of a decoder, whose readings of the weights they share.
for sequence in '5,6,7' '8' '9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25'; do
  run gpt2.F32 --ids="$sequence" --generate=5 --output=alone
  cat alone >>all
  sed -n 's/^tokens *//p' log >>tokens
done
run gpt2.F32 --ids='5,6,7;8;9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25' --generate=5 \
  --budget=least --output=together
cmp all together || fail 'sequences together have other bits than alone'
sed -n '/^tokens/,/^time/s/^\(tokens\)\? *\([0-9]\)/\2/p' log | cmp - tokens ||
  fail "other tokens than $(cat tokens): $(cat log)"
says '^least .* for each token of 3 sequences that keep their keys and values$'
says 's for each further token of all sequences'
refuses 1 'this budget is enough for 0 sequences' gpt2.F32 --ids='1;2' --budget=4KiB

# Generated tokens that are read as the end of a prompt must give the same next tokens.
tokens() { awk '$1 == "tokens" { $1 = ""; print substr($0, 2) }' log; }
run gpt2.F32 --ids=1,2,3 --generate=4
said=$(tokens)
[[ $said =~ ^[0-9]+\ [0-9]+\ [0-9]+\ [0-9]+$ ]] || fail "four tokens: $said"
run gpt2.F32 --ids="1,2,3,${said%% *}" --generate=3
[[ "${said#* }" == "$(tokens)" ]] || fail "$said, then $(tokens)"
# Generation goes up to the last position, and not beyond.
run gpt2.F32 --random_ids=30 --generate=11
refuses 1 '41 tokens, but the model has 40 positions' gpt2.F32 --random_ids=30 --generate=12

# The states are described: tokens, features and the first of them.
run minilm.F32 --ids='1,2,3;4,5' --output=output
python3 - output <<'END' || fail "not the states: $(cat log)"
import struct, sys
values = struct.unpack("<640f", open(sys.argv[1], "rb").read())
lines = open("log").read().split("\n")
at = next(i for i, line in enumerate(lines) if line.startswith("states "))
for line, tokens, first in ((lines[at], 3, 0), (lines[at + 1], 2, 3 * 128)):
    head, numbers = line.split(", the first token's ")
    assert head.endswith(" %d x 128" % tokens), head
    shown = [float(text) for text in numbers.replace(" ...", "").split()]
    assert len(shown) == 6, numbers
    for got, wanted in zip(shown, values[first:]):
        assert abs(got - wanted) <= 1e-5 * abs(wanted), (got, wanted)
END
! grep -q -- '--output' log || fail "it was written: $(cat log)"
run minilm.F32 --random_ids=3 --batch=10
says '^ +\.\.\. and 2 more sequences'
says '--output=FILE'

# Lost output is an error.
for command in 'minilm.F32 --ids=1,2' 'gpt2.F32 --ids=1,2 --generate=3' --help; do
  status=0
  # shellcheck disable=SC2086
  lowmem_run $command >/dev/full 2>log || status=$?
  ((status == 1)) || fail "$command to a full device exited $status: $(cat log)"
  says '^lowmem_run: standard output: cannot be written, results are lost'
done

# Bad input exits with 2 if the command line is wrong, and with 1 if the model refuses it.
refuses 2 'lowmem_run: takes one MODEL_DIR'
refuses 2 'no tokens: the input is empty' minilm.F32
refuses 2 'no tokens: the input is empty' gpt2.F32 --ids=
refuses 2 'sequence 1: no tokens' minilm.F32 --ids='1;'
refuses 2 '"x" is not a number' minilm.F32 --ids=1,x
refuses 2 '"" is not a number' minilm.F32 --ids=1,,2
refuses 2 '"" is not a number' minilm.F32 --ids=1,2,
refuses 2 '--ids and --random_ids are both given' minilm.F32 --ids=1 --random_ids=2
refuses 2 '--random_ids must be at least 1 token' minilm.F32 --random_ids=-1
refuses 2 '--batch must be at least 1 sequence' minilm.F32 --random_ids=1 --batch=0
refuses 2 '--batch goes with --random_ids' minilm.F32 --ids=1 --batch=2
refuses 2 '--budget: ' minilm.F32 --ids=1 --budget=much
refuses 1 '--generate goes with a decoder' minilm.F32 --ids=1 --generate=2
refuses 1 '--cache_type goes with a decoder' minilm.F32 --ids=1 --cache_type=q8_0
refuses 1 '257 sequences; this model reads from 1 to 256 together' \
  gpt2.F32 --random_ids=1 --batch=257
# Counts are refused before anything of that size is allocated.
refuses 1 '2000000000 tokens, but the model has 40 positions' \
  minilm.F32 --random_ids=2000000000
refuses 1 '--random_ids=9223372036854775807, but the model has 40 positions' \
  gpt2.F32 --random_ids=9223372036854775807
refuses 1 '2000000000 sequences; a batch has from 1 to' \
  minilm.F32 --random_ids=1 --batch=2000000000
# The run is refused before it fills memory, which the system would answer by killing it. The file
# has two tebibytes.
lowmem_generate --shape=minilm --layers=1 --hidden=1024 --heads=16 --intermediate=64 \
  --vocabulary=100 --positions=512 wide 2>log
touch a_file
! lowmem_generate a_file 2>log || fail "a file was taken for a folder"
says '^lowmem_generate: a_file is a file; name a folder'
refuses 1 'make 2.00 TiB free, or give fewer tokens, sequences or --threads' \
  wide --random_ids=512 --batch=1048576
# The product has some five billion operations; the steps take the time
# together.
run wide --random_ids=512 --batch=1 --layers
awk '/^time/ { seconds = $2; rate = $4 }
  /^  (embeddings|layer|output)/ { steps += $(NF - 1) }
  END { exit !(seconds < 600 && seconds * rate > 3 && seconds * rate < 9 &&
               steps > 0.9 * seconds && steps < 1.1 * seconds) }' log ||
  fail "seconds, operations and steps do not agree: $(cat log)"
refuses 1 '--generate=9000000000000000000, but the model has 40 positions' \
  gpt2.F32 --ids=1 --generate=9000000000000000000
refuses 1 'token 1 has the id 100; the vocabulary has 100 entries' minilm.F32 --ids=1,100
refuses 1 'token 0 has the id -1' gpt2.F32 --ids=-1
refuses 1 '41 tokens, but the model has 40 positions' minilm.F32 --random_ids=41
refuses 2 'no backend "disk"' minilm.F32 --ids=1 --backend=disk
refuses 2 '--threads=0 is not from 1 to 1024' minilm.F32 --ids=1 --threads=0
refuses 2 '--threads=40000 is not from 1 to 1024' minilm.F32 --ids=1 --threads=40000
refuses 2 '--repeat must be at least 1 pass' minilm.F32 --ids=1 --repeat=0
refuses 2 '--generate must be at least 1 token' gpt2.F32 --ids=1 --generate=0
refuses 1 "a checkpoint's folder holds config.json" nowhere --ids=1
for folder in minilm.F32 gpt2.F32; do
  refuses 1 'too small' $folder --ids=1,2,3 --budget=1KiB
  least=$(sed -n 's/.*need at least [^(]*(\([0-9,]*\) B).*/\1/p' log)
  run $folder --ids=1,2,3 --budget="${least//,/}"
  refuses 1 "($least B)" $folder --ids=1,2,3 --budget=$((${least//,/} - 1))
done
cp -r minilm.F32 other
sed -i 's/"intermediate_size": *600/"intermediate_size": 599/' other/config.json
refuses 1 'is [600, 128], but the config asks for [599, 128]' other --ids=1

# The config and the weights are pipes without a writer.
mkdir pipes
mkfifo pipes/config.json
refuses 1 'pipes/config.json: not a regular file' pipes --ids=1
rm pipes/config.json
cp minilm.F32/config.json pipes
mkfifo pipes/model.safetensors
for backend in resident pread direct mmap; do
  refuses 1 'pipes/model.safetensors: not a regular file' pipes --ids=1 --backend=$backend
done

# The keys model_type and architectures tell the family; RoBERTa is not mistaken for BERT.
for shape in minilm gpt2; do
  rm -rf other
  cp -r $shape.F32 other
  sed -i '/"model_type"/d' other/config.json
  run other --ids=1,2 --output=output
  run $shape.F32 --ids=1,2 --output=expected
  cmp expected output || fail "other bits without model_type: $shape"
  python3 - other/config.json <<'END'
import json, sys
config = json.load(open(sys.argv[1]))
del config["architectures"]
config["pad_token_id"] = 1
json.dump(config, open(sys.argv[1], "w"))
END
  refuses 1 'model_type is missing' other --ids=1
done
sed -i 's/{/{"model_type": "gpt2", "tie_word_embeddings": false, /' other/config.json
refuses 1 'no tensor "lm_head.weight"' other --ids=1

# Weights with NaN give no output, and the error says where they are.
damage() {
  python3 - "$@" <<'END'
import json, struct, sys
path, name, value = sys.argv[1:]
data = bytearray(open(path, "rb").read())
(length,) = struct.unpack("<Q", data[:8])
begin, end = json.loads(data[8 : 8 + length])[name]["data_offsets"]
data[8 + length + begin : 8 + length + end] = struct.pack("<f", float(value)) * ((end - begin) // 4)
open(path, "wb").write(data)
END
}
for value in nan inf; do
  for damaged in 'minilm encoder.layer.1.intermediate.dense.weight layer 1' \
    'minilm embeddings.LayerNorm.bias the table of embeddings' \
    'gpt2 h.0.attn.c_attn.weight layer 0' 'gpt2 ln_f.bias the output'; do
    read -r shape tensor where <<<"$damaged"
    rm -rf other output
    cp -r "$shape.F32" other
    damage other/model.safetensors "$tensor" $value
    refuses 1 "model.safetensors: $where gives numbers that are NaN or infinite" \
      other --ids=1,2,3 --output=output
    ! grep -q '^tokens\|^states' log || fail "a result of NaN: $(cat log)"
    [[ ! -e output ]] || fail 'NaN were written'
  done
done

# The output replaces the target of a link as a whole.
mkdir outputs
run minilm.F32 --ids=1,2,3 --output=expected
ln -s outputs/states link
echo precious >victim
ln -s ../victim outputs/.states.footprint-partial
refuses 1 '.states.footprint-partial: is a symbolic link' minilm.F32 --ids=1,2,3 --output=link
[[ $(cat victim) == precious ]] || fail 'what the planted link led to was written over'
rm outputs/.states.footprint-partial
run minilm.F32 --ids=1,2,3 --output=link
[[ -L link ]] || fail 'the link was replaced'
cmp expected outputs/states || fail 'other bits through a link'
mkfifo output.pipe
cat output.pipe >output &
run minilm.F32 --ids=1,2,3 --output=output.pipe
wait $!
cmp expected output || fail 'other bits through a pipe'

# A checkpoint in several files runs from these files, and from one that is packed of them.
mkdir shards
cp minilm.F32/config.json shards
python3 "$tree/lowmem/programs/split_checkpoint.py" minilm.F32/model.safetensors shards || fail 'no shards'
run minilm.F32 --ids=1,2,3 --output=expected
for backend in resident pread direct mmap; do
  run shards --ids=1,2,3 --output=output --backend=$backend --budget=600KiB
  cmp expected output || fail "shards have other bits than the file they were: $backend"
done
cp shards/model-1.safetensors kept
refuses 1 'is a file of the model' shards --ids=1 --output=shards/model-1.safetensors --force
cmp kept shards/model-1.safetensors || fail 'a shard was replaced'
rm shards/model-1.safetensors
refuses 1 'model-1.safetensors: cannot be opened' shards --ids=1
mv kept shards/model-1.safetensors
lowmem_pack shards/model.safetensors.index.json shards/model.safetensors 2>log ||
  fail "no packed shards: $(cat log)"
run shards --ids=1,2,3 --output=output
cmp expected output || fail 'packed shards have other bits than the file they were'

# If a file changes while a model runs, the run ends with an error, not with a wrong result or a
# signal. The budget has room for panels, but not for the model.
for backend in pread direct mmap; do
  for change in shortened replaced written; do
    for shape in minilm gpt2; do
      rm -rf changing out
      cp -r $shape.F32.packed changing
      lowmem_run changing --random_ids=30 --repeat=1000000 --budget=600KiB \
        --backend=$backend >out 2>log &
      pid=$!
      until [[ -s out ]]; do
        kill -0 $pid 2>/dev/null || break
        sleep 0.01
      done
      case $change in
        shortened) truncate -s 100000 changing/model.safetensors ;;
        replaced) cp minilm.F32/config.json new && mv new changing/model.safetensors ;;
        written) printf x | dd of=changing/model.safetensors conv=notrunc bs=1 seek=200000 status=none ;;
      esac
      status=0
      wait $pid || status=$?
      ((status == 1)) || fail "$shape by $backend, $change: exited $status: $(cat log)"
      grep -q 'while it was in use' log || fail "$shape by $backend, $change: $(cat log)"
    done
  done
done
echo passed
