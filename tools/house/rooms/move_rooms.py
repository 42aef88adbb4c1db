#!/usr/bin/env python3
"""Moves rules and files of packages into rooms: move.py TREE SPEC.py

SPEC has ROOMS = {room: {old package: "names of rules ..."}}, FILES = {old: new},
DOCS = {room: docstring}, ALIASES = set of old packages that keep aliases of what is public.
"""
import ast, collections, os, pathlib, re, subprocess, sys

tree = pathlib.Path(sys.argv[1])
spec = {}
exec(open(sys.argv[2]).read(), spec)
ROOMS, FILES, DOCS = spec["ROOMS"], spec.get("FILES", {}), spec["DOCS"]
SOURCES = sorted({p for r in ROOMS.values() for p in r})

Statement = collections.namedtuple("Statement", "text names kind files node public")

class Recorder:
    def __init__(self): self.calls = []
    def function(self, kind):
        def call(*args, **kwargs):
            self.calls.append((kind, args, kwargs))
        return call

class Strings(list):
    pass

def statements(package):
    path = tree / package / "BUILD"
    source = path.read_text()
    lines = source.split("\n")
    recorder = Recorder()
    env = {"glob": lambda patterns, **k: [str(f.relative_to(tree / package)) for g in patterns for f in sorted((tree / package).glob(g)) if f.is_file()],
           "select": lambda d: [x for v in d.values() for x in v], "native": None, "True": True, "False": False}
    found, end = [], 0
    for node in ast.parse(source).body:
        text = "\n".join(lines[end:node.end_lineno]).strip("\n")
        end = node.end_lineno
        recorder.calls = []
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            found.append(Statement(text, [], "doc", [], node, False)); continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.value.func.id == "load":
            for a in node.value.args[1:]: env[a.value] = [] if a.value.isupper() else recorder.function(a.value)
            for k in node.value.keywords: env[k.arg] = [] if k.arg.isupper() else recorder.function(k.value.value)
            found.append(Statement(text, [], "load", [], node, False)); continue
        class Env(dict):
            def __missing__(self, key): return recorder.function(key)
        e = Env(env)
        try:
            exec(compile(ast.Module([node], []), str(path), "exec"), e)
        except Exception as error:
            raise SystemExit("%s: %s in\n%s" % (path, error, text))
        for k, v in e.items():
            if k not in env and not k.startswith("__"): env[k] = v
        if isinstance(node, ast.Assign):
            found.append(Statement(text, [node.targets[0].id], "assign", [], node, False)); continue
        names, files, kind, public = [], set(), None, False
        for k, args, kw in recorder.calls:
            kind = k
            if "name" in kw:
                names.append(kw["name"])
                if k == "footprint_proto_library": names.append(kw["name"][:-6] + "_cc_proto")
            public = public or "//visibility:public" in kw.get("visibility", [])
            def walk(v):
                if isinstance(v, str): files.add(v)
                elif isinstance(v, dict):
                    for a, b in v.items(): walk(a); walk(b)
                elif isinstance(v, (list, tuple)):
                    for a in v: walk(a)
            walk(list(args)); walk(kw)
        files = sorted(f for f in files if f and not f.startswith(("/", "@", ":")) and (tree / package / f).is_file())
        found.append(Statement(text, names, kind, files, node, public))
    return found

room_of = {}          # (package, name) -> room
for room, sources in ROOMS.items():
    for package, names in sources.items():
        for name in names.split():
            assert (package, name) not in room_of, (package, name)
            room_of[package, name] = room

problems = []
plans = {}            # package -> [(statement, room)]
file_room = {}        # "package/file" -> room
for package in SOURCES:
    plans[package] = []
    for s in statements(package):
        room = None
        if s.names and s.kind != "assign":
            rooms = set()
            for n in (s.names[:1] if s.kind == 'footprint_proto_library' else s.names):
                r = room_of.get((package, n))
                if r is None:
                    for stem in (re.sub(r"_(test|proto|cc_proto)$", "", n), re.sub(r"_(fuzz|property|golden|bytes|heap)?_?test$", "", n),
                                 re.sub(r"_profile$", "", n)):
                        r = r or room_of.get((package, stem))
                rooms.add(r)
            if len(rooms) > 1: problems.append("%s: %s lies in %s" % (package, s.names, rooms))
            room = rooms.pop()
        plans[package].append((s, room or package))
        for f in s.files if s.kind != "exports_files" else []:
            key = package + "/" + f
            file_room.setdefault(key, []).append((room or package, s.names))

moves = dict(FILES)
for key, owners in file_room.items():
    if key in moves: continue
    package = next(p for p in sorted(SOURCES, key=len, reverse=True) if key.startswith(p + "/"))
    rooms = {r for r, _ in owners}
    if len(rooms) > 1:
        problems.append("%s belongs to %s" % (key, sorted(owners))); continue
    room = rooms.pop()
    if room != package: moves[key] = room + key[len(package):]

names = {}            # (package, name) -> new package
for package in SOURCES:
    for s, room in plans[package]:
        if s.kind in ("assign", None): continue
        for n in s.names: names[package, n] = room
unknown = [k for k in room_of if k not in names]
for k in unknown: problems.append("no rule %s:%s" % k)
# `name` alone as the name of a file of a package, as in exports and data
if problems:
    print("\n".join(problems)); sys.exit(1)

aliases = {}          # package -> [(name, new label, testonly)]
for package in SOURCES:
    for s, room in plans[package]:
        if room != package and s.public and s.kind not in ("assign",):
            for n in s.names: aliases.setdefault(package, {})[n] = room

def label(package, name, here):
    if package == here: return ":" + name
    if package.rsplit("/", 1)[-1] == name: return "//" + package
    return "//%s:%s" % (package, name)

def room_of_label(package, name):
    return names.get((package, name)) or (lambda m: m.rsplit("/", 1)[0] if False else None)(moves.get(package + "/" + name, ""))

def new_label(package, name, here, external, importer=False):
    """The label as `here` should write it, or None if it did not move."""
    target = names.get((package, name))
    if target is None:
        moved = moves.get(package + "/" + name)
        if moved is None: return None
        # a file: of the room that holds it
        owner = max((r for r in list(ROOMS) + SOURCES if moved.startswith(r + "/")), key=len)
        return label(owner, moved[len(owner) + 1:], here)
    if target == package and here == package: return ":" + name if not external else None
    if target == package: return None
    if external and name in aliases.get(package, {}):
        if importer or target.split("/")[0] == package.split("/")[0]: return None
    return label(target, name, here)

LABEL = re.compile(r"((?:@footprint)?)//((?:%s)):([\w.+-]*[\w+])" % "|".join(map(re.escape, sorted(SOURCES, key=len, reverse=True))))
SHORT = re.compile(r"(\":?)")

def rewrite_absolute(text, here):
    top = here.split("/")[0] if here else ""
    def change(m):
        package, name = m[2], m[3]
        external = bool(m[1]) or package.split("/")[0] != top
        new = new_label(package, name, here, external, bool(m[1]))
        if new is None: return m[0]
        return m[1] + (new if not m[1] else new)
    return LABEL.sub(change, text)

def rewrite_build_text(text, old, room):
    def local(m):
        name = m[2]
        if (old, name) not in names and old + "/" + name not in moves: 
            if room == old: return m[0]
            return m[0]
        new = new_label(old, name, room, False)
        if new is None: new = label(old, name, room) 
        return m[1] + new
    text = re.sub(r"((?<=[\"' ( ]))?:([\w.+-]+)(?=[\"') ])", lambda m: local(re.match(r"()(?::)(.*)", ":" + m[2])) if m[1] is not None else m[0], text)
    def file(m):
        f = m[1]
        key = old + "/" + f
        if not (tree / old / f).is_file(): return m[0]
        new = moves.get(key, key)
        if new.startswith(room + "/") : return '"%s"' % new[len(room) + 1:]
        owner = max((r for r in list(ROOMS) + SOURCES if new.startswith(r + "/")), key=len)
        if owner == room: return '"%s"' % new[len(room)+1:]
        exported.setdefault(owner, set()).add(new[len(owner) + 1:])
        return '"//%s:%s"' % (owner, new[len(owner) + 1:])
    text = re.sub(r'"([\w./+-]+)"', file, text)
    return rewrite_absolute(text, room)

exported = {}
builds = collections.defaultdict(list)   # room -> [text]
loads = collections.defaultdict(dict)
consts = collections.defaultdict(dict)
prelude = {}
for package in SOURCES:
    const = {}
    for s, room in plans[package]:
        if s.kind == "load":
            args = s.node.value.args
            for a in args[1:]: const_load = loads[package, "all"].__setitem__(a.value, (args[0].value, a.value))
            for k in s.node.value.keywords: loads[package, "all"][k.arg] = (args[0].value, k.value.value)
        elif s.kind == "assign":
            const[s.names[0]] = s
    for s, room in plans[package]:
        if s.kind in ("doc", "load", "package", "licenses", "assign") or (s.kind is None): continue
        text = rewrite_build_text(s.text, package, room)
        if s.kind == "exports_files":
            builds[package].append(text); continue
        if room != package:
            m = re.search(r'    visibility = \[([^\]]*)\],\n', text)
            if m and (room.startswith("base/") or "visibility:public" in m[1] or all(v.startswith("//" + room.split("/")[0]) for v in re.findall(r'"([^"]*)"', m[1]))):
                text = text.replace(m[0], "")
            elif m and "visibility:private" not in m[1]:
                others = [v.replace(":__pkg__", ":__subpackages__") for v in re.findall(r'"([^"]*)"', m[1])]
                own = "//%s:__subpackages__" % room.split("/")[0]
                text = text.replace(m[0], "    visibility = [%s],\n" % ", ".join('"%s"' % v for v in sorted({own, *others})))
        builds[room].append(text)
        used = set(re.findall(r"\b[A-Za-z_]\w*\b", text))
        def need(c):
            if c in consts[room]: return
            body = const[c].text
            for d in re.findall(r"\b[A-Z_]\w*\b", body):
                if d in const and d != c: need(d)
            consts[room][c] = rewrite_build_text(body, package, room)
        for c in const:
            if c in used: need(c)
        for f, where in loads[package, "all"].items():
            if f in used or any(f in re.findall(r"\w+", t) for t in consts[room].values()): loads[room][f] = where

def write_build(room):
    path = tree / room / "BUILD"
    old = path.read_text() if path.exists() else None
    doc = DOCS.get(room)
    if doc is None:
        doc = ast.get_docstring(ast.parse(old)) if old else room
    out = ['"""%s"""' % doc, ""]
    by_file = collections.defaultdict(list)
    for f, (where, symbol) in loads[room].items(): by_file[where].append((f, symbol))
    for where in sorted(by_file):
        out.append('load("%s", %s)' % (where, ", ".join('"%s"' % f if f == s else '%s = "%s"' % (f, s) for f, s in sorted(by_file[where]))))
    top = room.split("/")[0]
    visibility = spec.get("VISIBILITY", {}).get(room) or ("//visibility:private" if room == top else "//%s:__subpackages__" % top)
    out += ["", 'package(default_visibility = ["%s"])' % visibility, "", 'licenses(["notice"])', ""]
    ex = exported.get(room)
    if ex: out += ["exports_files([%s])" % ", ".join('"%s"' % e for e in sorted(ex)), ""]
    for c in consts[room].values(): out += [c, ""]
    for t in builds[room]: out += [t, ""]
    if room in aliases:
        out += ["# The list of what is public. A room holds each target.", ""]
        for n, r in sorted(aliases[room].items(), key=lambda kv: (kv[1], kv[0])):
            out += ["alias(", '    name = "%s",' % n, '    actual = "%s",' % label(r, n, room), '    visibility = ["//visibility:public"],', ")", ""]
    return "\n".join(out)

touched = sorted(set(builds) | set(SOURCES))
appended = {}
existing_rooms = [r for r in touched if r not in SOURCES and (tree / r / "BUILD").exists()]
new_builds = {}
for room in touched:
    if room in existing_rooms:
        # a room of an earlier move: its text stays, what is new comes after it
        base = rewrite_absolute((tree / room / "BUILD").read_text(), room)
        text = write_build(room)
        head, _, tail = text.partition('licenses(["notice"])\n')
        loadlines = "\n".join(l for l in head.split("\n") if l.startswith("load("))
        new_builds[room] = ("merge", base, loadlines, tail)
    else:
        new_builds[room] = ("new", write_build(room))

def sh(*a): subprocess.run(a, cwd=tree, check=True)
for old, new in sorted(moves.items()):
    (tree / new).parent.mkdir(parents=True, exist_ok=True)
    sh("git", "mv", old, new)
for room, value in new_builds.items():
    path = tree / room / "BUILD"
    path.parent.mkdir(parents=True, exist_ok=True)
    if value[0] == "new": path.write_text(value[1])
    else:
        _, base, loadlines, tail = value
        head, mark, rest = base.partition("package(")
        path.write_text(head + loadlines + "\n\n" + mark + rest + "\n" + tail)
    sh("git", "add", str(path.relative_to(tree)))

# ---- every other text of the tree
path_map = dict(moves)
include_map = {}
for old, new in moves.items():
    if old.endswith((".h", ".proto")):
        include_map["footprint/" + old] = "footprint/" + new
        if old.endswith(".proto"):
            include_map["footprint/" + old[:-6] + ".pb.h"] = "footprint/" + new[:-6] + ".pb.h"
target_paths = {p + "/" + n: r + "/" + n for (p, n), r in names.items() if r != p}
both = {**target_paths, **path_map}
tops = "|".join(map(re.escape, sorted(SOURCES, key=len, reverse=True)))
PATH = re.compile(r"(?<![\w.+-])((?:%s)/[\w./+-]*[\w+])" % tops)
def change_path(m):
    p = m[1]
    if p in both: return both[p]
    for tail in (".runfiles", ".cc.o", ".exe"):
        pass
    # a path with a known file at its start, such as x.cc#region
    return p
def change_paths(text, own):
    def f(m):
        before = text[max(0, m.start() - 2):m.start()]
        if before.endswith("//"): return m[0]
        return change_path(m)
    return PATH.sub(f, text)

base_mutations = []
files = subprocess.run(["git", "ls-files"], cwd=tree, capture_output=True, text=True, check=True).stdout.split("\n")
for name in files:
    if not name or name.endswith((".png", ".safetensors", ".bin", ".csv", ".svg")): continue
    path = tree / name
    if not path.is_file() or path.is_symlink(): continue
    try: text = path.read_text()
    except UnicodeDecodeError: continue
    here = os.path.dirname(name)
    new = text
    if name.endswith("BUILD") and here in new_builds: 
        pass
    else:
        external = name.startswith("examples/")
        if not external:
            new = rewrite_absolute(new, here if name.endswith("BUILD") else "")
    for a in re.findall(r"footprint/[\w./-]+\.(?:pb\.h|h|proto)", new):
        if a in include_map: pass
    new = re.sub(r"footprint/[\w./-]+\.(?:pb\.h|h|proto)", lambda m: include_map.get(m[0], m[0]), new)
    new = change_paths(new, name)
    if name.endswith(".h"):
        guard = "FOOTPRINT_" + re.sub(r"[^A-Z0-9]", "_", name.upper()) + "_"
        m = re.search(r"#ifndef (FOOTPRINT_\w+_H_)\n", new)
        if m and m[1] != guard: new = new.replace(m[1], guard)
    if name.endswith("mutations.txt"):
        package = here
        kept, away, comments = [], [], []
        def is_away(l):
            f = l.split("\t")
            i = 1 if f[0] == "first" else 0
            return len(f) > 1 and moves.get(package + "/" + f[i], package + "/").startswith("base/") and package.split("/")[0] != "base"
        for l in new.split("\n"):
            if l.startswith("#"): comments.append(l); continue
            (away if is_away(l) else kept).extend(comments + [l]); comments = []
        kept += comments
        new = "\n".join(kept)
        if away:
            base_mutations.extend(os.path.relpath(moves[package + "/" + l.split("\t")[1 if l.startswith("first\t") else 0]], "base").join(["first\t" if l.startswith("first\t") else "", l[len(l.split("\t")[0]) if not l.startswith("first\t") else 6 + len(l.split("\t")[1]):]]) if "\t" in l and not l.startswith("#") else l for l in away)
        def line(l):
            f = l.split("\t")
            i = 1 if f[0] == "first" else 0
            if len(f) > i:
                moved = moves.get(package + "/" + f[i])
                if moved:
                    f[i] = os.path.relpath(moved, package)
            return "\t".join(f)
        new = "\n".join(line(l) for l in new.split("\n"))
    if new != text: path.write_text(new)
if base_mutations:
    path = tree / "base/mutations.txt"
    firsts = [l for l in base_mutations if l.startswith("first\t")]
    others = [l for l in base_mutations if not l.startswith("first\t")]
    if not path.exists(): path.write_text("# Faults that the tests of base's rooms must catch; see `tools/dev mutate`.\n")
    old = path.read_text().split("\n")
    head = [l for l in old if l.startswith("first\t")]
    path.write_text("\n".join(old[:1] + head + firsts + [l for l in old[1:] if l not in head and l] + others) + "\n")
print("moved %d files, %d rules" % (len(moves), sum(1 for k, v in names.items() if v != k[0])))
