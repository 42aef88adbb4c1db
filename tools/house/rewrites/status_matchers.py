#!/usr/bin/env python3
"""Writes the status checks of tests with the matchers of base/testing.

    status_matchers.py TREE FOLDER...    (then buildifier, tools/dev format, layers.sh)

    EXPECT_TRUE(x.ok()) << x.status();    becomes  EXPECT_THAT(x, IsOk());
    EXPECT_EQ(x.status().code(), CODE);   becomes  EXPECT_THAT(x, StatusIs(CODE));

ASSERT likewise. Adds the includes, and the dependency to the rule of the file. A
type of another ok() than Status's does not compile then: name its lines in SKIP.
"""
import pathlib, re, sys

SKIP = set(line.strip() for line in open(sys.argv[0] + ".skip")) if pathlib.Path(sys.argv[0] + ".skip").exists() else set()
# Types with a status() that are no StatusOr: theirs is asked for.
HOLDERS = r"\b(?:ConfigReader|CsvFields|CsvParser|WeightBinder|WeightBinder|PlannedBenchmarks)\b>?[ &*]+(?:const )?%s\b"
MACRO = re.compile(r"\b(EXPECT|ASSERT)_(TRUE|EQ)\(")


def closing(text, at):
    """Index of the parenthesis that closes the one at `at`; strings are skipped."""
    depth, i = 0, at
    while i < len(text):
        c = text[i]
        if c == '"':
            if text[i - 1] == "R" and not text[i - 2].isalnum():
                end = re.match(r'"([^(]*)\(', text[i:])
                i = text.index(")" + end[1] + '"', i) + len(end[1]) + 1
            else:
                i += 1
                while text[i] != '"':
                    i += 2 if text[i] == "\\" else 1
        elif c == "'" and not (text[i - 1].isdigit() and text[i + 1].isdigit()):
            i += 1
            while text[i] != "'":
                i += 2 if text[i] == "\\" else 1
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
            if depth == 0:
                return i
        i += 1
    raise ValueError("no closing parenthesis")


def arguments(text):
    parts, start, i = [], 0, 0
    while i < len(text):
        if text[i] in "([{":
            i = closing(text, i)
        elif text[i] == '"':
            i += 1
            while text[i] != '"':
                i += 2 if text[i] == "\\" else 1
        elif text[i] == ",":
            parts.append(text[start:i].strip())
            start = i + 1
        i += 1
    return parts + [text[start:].strip()]


def squeeze(text):
    return re.sub(r"\s+", " ", text).strip()


def statement_end(text, at):
    i = at
    while text[i] != ";":
        i = closing(text, i) if text[i] in "([{" else i
        if text[i] == '"':
            i += 1
            while text[i] != '"':
                i += 2 if text[i] == "\\" else 1
        i += 1
    return i


def remaining(message, value):
    """The streamed message without what the matcher says by itself."""
    m = squeeze(message)
    # Only the status, in any of its ways.
    v = re.escape(squeeze(value))
    stripped = v[:-len(re.escape(".status()"))] if v.endswith(re.escape(".status()")) else v
    own = r"(?:%s|%s\.status\(\)|%s\.status\(\)\.message\(\)|%s\.message\(\)|%s)" % (v, v, v, v, stripped)
    if re.fullmatch(r"<< " + own, m):
        return ""
    m2 = re.sub(r"(?: << \"[:;,]? ?\\?n?\")? << " + own + "$", "", m)
    return m2 if m2 != m else message.rstrip()


def convert(text, prefix):
    out, at, count = [], 0, 0
    for match in MACRO.finditer(text):
        if match.start() < at:
            continue
        opening = match.end() - 1
        end = closing(text, opening)
        inside = text[opening + 1:end]
        args = arguments(inside)
        new = None
        if squeeze(inside) in SKIP:
            continue
        if match[2] == "TRUE" and len(args) == 1:
            value = re.fullmatch(r"(.*?)\s*\.ok\(\)", args[0], re.S)
            if value and not re.search(r"&&|\|\||[<>=!]=|^!", value[1]):
                new = (value[1], prefix + "IsOk()")
        elif match[2] == "EQ" and len(args) == 2:
            code = re.fullmatch(r"absl::StatusCode::k\w+", args[1])
            value = re.fullmatch(r"(.*?)(?:\s*\.status\(\))?\s*\.code\(\)", args[0], re.S)
            if code and value:
                new = (value[1], "%sStatusIs(%s)" % (prefix, args[1]))
        if not new:
            continue
        semicolon = statement_end(text, end + 1)
        message = remaining(text[end + 1:semicolon], new[0])
        value = new[0]
        # x.status().ok(): x need be no StatusOr.
        explicit = re.search(r"\.status\(\)\s*\.(?:ok|code)\(\)", args[0])
        name = re.match(r"\w*", value.lstrip("*("))[0]
        if explicit and (match[2] == "TRUE" or name and re.search(HOLDERS % name, text)):
            value = value if value.endswith(".status()") else value + ".status()"
        out += [text[at:match.start()], "%s_THAT(%s, %s)%s" % (
            match[1], value, new[1], (" " + message.strip()) if message.strip() else "")]
        at = semicolon
        count += 1
    return "".join(out + [text[at:]]), count


def add_include(text, line):
    if line in text:
        return text
    lines = text.split("\n")
    quoted = [i for i, l in enumerate(lines) if l.startswith('#include "')]
    # The first may be the header under test, alone in its block.
    block = quoted[0] if len(quoted) == 1 else quoted[1] if quoted[0] + 1 < len(lines) and not lines[quoted[0] + 1].startswith('#include "') else quoted[0]
    lines.insert(block, line)
    i = block
    end = block
    while end < len(lines) and lines[end].startswith('#include "'):
        end += 1
    lines[block:end] = sorted(lines[block:end])
    return "\n".join(lines)


def add_dependency(build, name):
    text = build.read_text()
    changed = False
    for rule in re.finditer(r"^\w+\(\n(?:[^\n]*\n)*?\)\n", text, re.M):
        if '"%s"' % name not in rule[0] or "srcs" not in rule[0]:
            continue
        if ":status_matchers" in rule[0]:
            return True
        # `deps`, not `data`.
        deps = re.search(r"    deps = (\[.*?\])", rule[0], re.S)
        if not deps:
            new = rule[0][:-2] + '    deps = ["//base/testing:status_matchers"],\n)\n'
        else:
            new = rule[0].replace(deps[0], deps[0][:-1].rstrip().rstrip(",") + (", " if "\n" not in deps[0] else ",\n        ") + '"//base/testing:status_matchers"' + ("]" if "\n" not in deps[0] else ",\n    ]"))
        text = text.replace(rule[0], new)
        changed = True
    if not changed:
        # A rule of a list comprehension, by the file's name or made of a variable.
        at = max(text.find('"%s"' % name), text.find('srcs = [name + "_test.cc"]') if name.endswith("_test.cc") else -1)
        deps = re.compile(r"deps = \[\n(\s*)").search(text, max(at, 0))
        if at >= 0 and deps:
            if "status_matchers" not in text[at:text.index("]", deps.end())]:
                text = text[:deps.end()] + '"//base/testing:status_matchers",\n' + deps[1] + text[deps.end():]
            changed = True
    build.write_text(text)
    return changed


def main():
    tree = pathlib.Path(sys.argv[1])
    total = 0
    for folder in sys.argv[2:]:
        for path in sorted((tree / folder).rglob("*.cc")) + sorted((tree / folder).rglob("*.h")):
            if "examples/" in str(path.relative_to(tree)):
                continue
            text = path.read_text()
            if "gtest/gtest.h" not in text and "gmock/gmock.h" not in text:
                continue
            prefix = "" if re.search(r"^namespace footprint\b", text, re.M) else "footprint::"
            new, count = convert(text, prefix)
            if not count:
                continue
            new = add_include(new, '#include "footprint/base/testing/status_matchers.h"')
            new = add_include(new, '#include "gmock/gmock.h"')
            path.write_text(new)
            total += count
            if not add_dependency(path.parent / "BUILD", path.name):
                print("no rule found for", path)
            print("%4d %s" % (count, path.relative_to(tree)))
    print(total, "checks")


main()
