"""Resolves a MODULE.bazel as Bazel does, from a registry or from a copy of its facts.

    facts = resolution.Checkout("/path/to/registry")          # or resolution.Facts(json)
    result = resolution.resolve(root, facts, bazel=(7, 7, 1))
    result.selected    # module name -> version
    result.faults      # sentences; empty where Bazel would go on

The algorithm is minimal version selection: of each module the highest version that
anybody asks for, within a compatibility level. Bazel 7, 8.0 to 8.5 and 9.0 refuse two
levels of one module; later ones ignore levels. Dependencies for development count in
the root module alone.

Bazel's own hidden dependencies are left out: they ask for versions below ours.

Source: "External dependencies overview" of Bazel's documentation.
"""

import collections
import json
import pathlib
import re
import typing


class Dependency(typing.NamedTuple):
    """One bazel_dep. `highest_level` is its max_compatibility_level, or -1."""

    name: str
    version: str
    highest_level: int = -1


class Module(typing.NamedTuple):
    """The parts of a MODULE.bazel that resolution reads."""

    name: str
    version: str
    level: int
    bazel: tuple  # constraints such as ">=7.4.0"
    dependencies: tuple
    overridden: frozenset = frozenset()  # modules that the root takes from elsewhere


class Resolution(typing.NamedTuple):
    """The versions that are selected, and every reason for which Bazel would refuse it."""

    selected: dict
    faults: list


def read_module(text, with_development=False):
    """Returns the Module in the text of a MODULE.bazel, which is valid Python."""
    own = {"name": "", "version": "", "level": 0, "bazel": ()}
    dependencies = []
    overridden = set()

    def module(name="", version="", compatibility_level=0, bazel_compatibility=(), **_):
        own.update(name=name, version=version, level=compatibility_level,
                   bazel=tuple(bazel_compatibility))

    def bazel_dep(name, version="", max_compatibility_level=-1, dev_dependency=False,
                  repo_name="", **_):
        # With repo_name = None a version counts only if other modules want the
        # module.
        if repo_name is not None and (with_development or not dev_dependency):
            dependencies.append(Dependency(name, version, max_compatibility_level))

    def override(module_name, **_):
        overridden.add(module_name)

    class Ignored(dict):
        """Stands for every other name: callable, with any attribute, without effect."""

        def __missing__(self, key):
            return _anything

    names = Ignored(module=module, bazel_dep=bazel_dep, local_path_override=override,
                    archive_override=override, git_override=override,
                    single_version_override=override)
    exec(compile(text, "MODULE.bazel", "exec"), names)  # pylint: disable=exec-used
    return Module(dependencies=tuple(dependencies), overridden=frozenset(overridden), **own)


class _Anything:
    def __call__(self, *unused_args, **unused_kwargs):
        return self

    def __getattr__(self, name):
        return self


_anything = _Anything()


class Checkout:
    """A registry as a folder that contains modules/; each file is read when it is needed."""

    def __init__(self, folder):
        self._modules = pathlib.Path(folder) / "modules"
        if not self._modules.is_dir():
            raise ValueError("%s is no checkout of a registry: it has no folder 'modules'" % folder)

    def versions(self, name):
        """Returns the listed versions of a module, oldest first."""
        folder = self._modules / name
        found = [path.name for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []
        return sorted(found, key=version_key)

    def module(self, name, version):
        """Returns the Module, or None if the registry does not have it."""
        path = self._modules / name / version / "MODULE.bazel"
        return read_module(path.read_text()) if path.is_file() else None

    def yanked(self, name, version):
        """Returns why a version was withdrawn, or ""."""
        path = self._modules / name / "metadata.json"
        about = json.loads(path.read_text()) if path.is_file() else {}
        return about.get("yanked_versions", {}).get(version, "")

    def overlay(self, name, version):
        """Returns the BUILD files that the registry adds: package -> text."""
        folder = self._modules / name / version / "overlay"
        return {path.parent.relative_to(folder).as_posix().strip("."): path.read_text()
                for path in sorted(folder.rglob("BUILD*"))} if folder.is_dir() else {}


class Facts:
    """A copy of a registry's facts, as `collect_facts` makes it."""

    def __init__(self, facts):
        self._facts = facts

    def versions(self, name):
        """Returns the listed versions of a module, oldest first."""
        return self._facts["versions"].get(name, [])

    def module(self, name, version):
        """Returns the Module, or None if the facts do not hold it."""
        fact = self._facts["modules"].get("%s@%s" % (name, version))
        if fact is None:
            return None
        dependencies = tuple(
            Dependency(*re.fullmatch(r"([^@]+)@([^<]*)", text.partition("<")[0]).groups(),
                       int(text.partition("<")[2] or -1))
            for text in fact.get("deps", []))
        return Module(name, version, fact.get("level", 0), tuple(fact.get("bazel", [])),
                      dependencies)

    def yanked(self, name, version):
        """Returns why a version was withdrawn, or ""."""
        return self._facts["yanked"].get("%s@%s" % (name, version), "")


def collect_facts(roots, checkout):
    """Returns what resolution of any of `roots` reads of a checkout, for Facts.

    `roots` are Modules, or Dependencies whose own needs are wanted, too.
    """
    facts = {"versions": {}, "yanked": {}, "modules": {}}
    waiting = [root if isinstance(root, Dependency) else dependency
               for root in roots
               for dependency in (root.dependencies if isinstance(root, Module) else [root])]
    for dependency in waiting:
        facts["versions"][dependency.name] = checkout.versions(dependency.name)
    while waiting:
        name, version, _ = waiting.pop()
        key = "%s@%s" % (name, version)
        module = checkout.module(name, version)
        if key in facts["modules"] or module is None:
            continue
        fact = {"level": module.level, "bazel": list(module.bazel),
                "deps": ["%s@%s" % (d.name, d.version) +
                         ("<%d" % d.highest_level if d.highest_level >= 0 else "")
                         for d in module.dependencies]}
        facts["modules"][key] = {field: value for field, value in fact.items() if value}
        if checkout.yanked(name, version):
            facts["yanked"][key] = checkout.yanked(name, version)
        waiting.extend(module.dependencies)
    return facts


def version_key(version):
    """Returns a key that orders versions as Bazel does: 1.0-rc before 1.0 before 1.0.1."""
    release, _, rest = version.partition("+")[0].partition("-")

    def identifiers(text):
        return [(0, int(part), "") if part.isdigit() else (1, 0, part)
                for part in text.split(".")] if text else []

    return (identifiers(release), not rest, identifiers(rest))


def _accepts(bazel, constraint):
    operator, wanted = re.fullmatch(r"(>=|<=|>|<|-)([0-9.]+).*", constraint).groups()
    wanted = tuple(int(part) for part in wanted.split("."))
    return {">=": bazel >= wanted, "<=": bazel <= wanted, ">": bazel > wanted,
            "<": bazel < wanted, "-": bazel != wanted}[operator]


def _reads_levels(bazel):
    return bazel < (8, 6) or (9,) <= bazel < (9, 1)


class _Resolver:
    def __init__(self, root, facts, bazel):
        self._root = root
        self._facts = facts
        self._bazel = bazel
        self._modules = {}  # (name, version) -> Module or None
        self.faults = []

    def _level(self, name, version):
        module = self._modules.get((name, version))
        return module.level if module and _reads_levels(self._bazel) else 0

    def _wanted(self, module):
        """Returns the dependencies that come from the registry."""
        return [dependency for dependency in module.dependencies
                if dependency.name not in self._root.overridden | {self._root.name}]

    def _find(self, dependency):
        module = self._facts.module(dependency.name, dependency.version)
        if module is None:
            listed = self._facts.versions(dependency.name)
            self.faults.append("missing: %s %s is not in the registry, which has %s" % (
                dependency.name, dependency.version, " ".join(listed[-6:]) or "no such module"))
        return module

    def collect(self):
        """Reads every module that another asks for, whether or not it is selected in the end."""
        waiting = self._wanted(self._root)
        while waiting:
            dependency = waiting.pop()
            key = (dependency.name, dependency.version)
            if key in self._modules:
                continue
            self._modules[key] = self._find(dependency)
            if self._modules[key]:
                waiting.extend(self._wanted(self._modules[key]))

    def select(self):
        """Walks from the root with the highest version of each level."""
        highest = collections.defaultdict(dict)  # name -> level -> version
        for name, version in self._modules:
            level = self._level(name, version)
            best = highest[name].get(level)
            if best is None or version_key(version) > version_key(best):
                highest[name][level] = version
        selected = {}
        waiting = collections.deque([("the root module", self._root)])
        while waiting:
            asking, module = waiting.popleft()
            for dependency in self._wanted(module):
                at = self._level(dependency.name, dependency.version)
                level = max(level for level in highest[dependency.name]
                            if at <= level <= max(at, dependency.highest_level))
                version = highest[dependency.name][level]
                known = selected.setdefault(dependency.name, version)
                if known != version:
                    self.faults.append(
                        "conflict: %s wants %s %s of compatibility level %d, others %s of level %d"
                        % (asking, dependency.name, version, level, known,
                           self._level(dependency.name, known)))
                    continue
                found = self._modules[dependency.name, version]
                if found and "%s@%s" % (dependency.name, version) not in self._walked:
                    self._walked.add("%s@%s" % (dependency.name, version))
                    waiting.append(("%s %s" % (dependency.name, version), found))
        return selected

    _walked = None

    def run(self):
        self._walked = set()
        self.collect()
        selected = self.select()
        for name, version in sorted(selected.items()):
            module = self._modules[name, version]
            self.faults += ["bazel: %s %s wants Bazel %s" % (name, version, constraint)
                            for constraint in (module.bazel if module else ())
                            if not _accepts(self._bazel, constraint)]
            reason = self._facts.yanked(name, version)
            if reason:
                self.faults.append("yanked: %s %s: %s" % (name, version, reason))
        return Resolution(selected, sorted(set(self.faults)))


def resolve(root, facts, bazel):
    """Returns the Resolution of the Module `root` under a Bazel such as (7, 7, 1)."""
    return _Resolver(root, facts, bazel).run()
