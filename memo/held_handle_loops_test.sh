#!/usr/bin/env bash
# Compares the instructions of the loops in held_handle_loops.cc, without registers
# and addresses, which differ between functions.
set -euo pipefail
readonly PROGRAM=$1

fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

# loop_of FUNCTION: prints the instructions of the function's innermost loop, from the
# target of its shortest backward jump to the jump.
loop_of() {
  objdump --disassemble="$1" --no-show-raw-insn "$PROGRAM" | awk '
    /^ *[0-9a-f]+:/ {
      address[++count] = substr($1, 1, length($1) - 1)
      sub(/^ *[0-9a-f]+:[ \t]*/, "")
      text[count] = $0
    }
    END {
      for (i = 1; i <= count; ++i) {
        if (text[i] !~ /^j/) continue
        split(text[i], word, " ")
        for (j = 1; j < i; ++j) {
          if (address[j] == word[2] && (best == 0 || i - j < best - first)) {
            best = i
            first = j
          }
        }
      }
      for (i = first; i <= best && best > 0; ++i) {
        gsub(/%[a-z0-9]+/, "%register", text[i])
        sub(/^j([a-z]+) .*/, "j", text[i])
        gsub(/[ \t]+/, " ", text[i])
        print text[i]
      }
    }'
}

main() {
  local by_pointer by_handle each_time
  "$PROGRAM" || fail "$PROGRAM failed with exit status $?"
  by_pointer=$(loop_of ReadByPointer)
  by_handle=$(loop_of ReadByHandle)
  each_time=$(loop_of GetEachTime)
  [[ $by_pointer == *'(%register)'* ]] ||
    fail "the loop over a pointer reads no memory: $by_pointer"
  [[ $by_handle == "$by_pointer" ]] ||
    fail "the loops differ; through a handle:"$'\n'"$by_handle"$'\n'"through a pointer:"$'\n'"$by_pointer"
  [[ $each_time != "$by_pointer" ]] ||
    fail "the comparison cannot tell a loop with Get() from one without"
}

main
