"""The reference that the extension's reader is compared with: prints, for each Python file, one line of JSON
in the shape of a case of test/fixtures/gym/expected.json.

    python test/gym/reference.py --root FOLDER FILE...

What the text says comes from `ast`, where Python finds a class comes from running the file. Where the published rules
leave something open, `accept` beside it lists what is right besides; what no run could prove stands in `open` and is
not to be compared.
"""

from __future__ import annotations

import argparse
import ast
import json
from functools import cache
from pathlib import Path
from typing import Any

from running import Ancestor, Run, RunClass, run
from source import NON_LITERAL, Call, ClassSource, Source, Unparsable, plain_base_names, read_source, written_values

UNKNOWN = "unknown"
ANY = [True, False, None, NON_LITERAL, UNKNOWN]


@cache
def source_of(path: str) -> Source | None:
    try:
        return read_source(Path(path))
    except (Unparsable, OSError):
        return None


def in_guarded_import(file: str, line: int) -> bool:
    source = source_of(file) if file else None
    return source is not None and any(first <= line <= last for first, last in source.guarded_imports)


class Reading:
    """A value, where it comes from, and what else would be right."""

    def __init__(
        self, value: Any, origin: str | None, accept: list[Any] | None = None, outside: int | None = None
    ) -> None:
        self.value = value
        self.origin = origin
        self.accept = accept or []
        self.outside = outside

    def json(self) -> dict[str, Any]:
        answer = {"value": self.value, "from": self.origin}
        if self.outside is not None:
            answer["outsideClassBody"] = self.outside
        return answer


class FileReading:
    def __init__(self, path: Path, root: Path, source: Source) -> None:
        self.path = path
        self.root = root
        self.source = source
        receivers = ["None" if call.local else call.text for call in source.calls]
        self.alone = run(path, root, receivers, in_guarded_import, alone=True)
        self.tree = run(path, root, receivers, in_guarded_import, alone=False)

    # Classes

    def classes(self) -> list[dict[str, Any]]:
        return [self.class_json(c) for c in sorted(self.source.classes, key=lambda c: (c.line, c.col))]

    def class_json(self, found: ClassSource) -> dict[str, Any]:
        same_file = self.reading(self.alone, found)
        tree = self.reading(self.tree, found)
        started, started_open = self.started(found)
        last = found.last
        answer: dict[str, Any] = {
            "name": found.node.name,
            "qualname": found.qualname,
            "line": found.line,
            "col": found.col,
            "declared": found.declared,
            "declaration": None,
            "strict": found.strict,
            "sameFile": same_file and same_file.json(),
            "tree": tree and tree.json(),
            "started": started,
            "warnings": self.warnings(found),
            "lens": self.lens(tree),
            "listed": self.listed(found, started, started_open),
            "accept": {},
            "open": ["warnings"] if found.elsewhere else [],
        }
        if last:
            answer["declaration"] = {**self.source.span(last.node), "kind": last.kind, "value": last.value}
        if found.strict_accept:
            answer["accept"]["strict"] = found.strict_accept
        for name, reading in (("sameFile", same_file), ("tree", tree)):
            if reading is None:
                answer["open"].append(name)
            elif reading.accept:
                answer["accept"][name] = [reading.value, *reading.accept]
        if started_open:
            answer["open"].append("started")
        return answer

    def warnings(self, found: ClassSource) -> list[str]:
        warnings: list[str] = []
        last = found.last
        if found.declared == NON_LITERAL:
            warnings.append("not-a-literal")
        if found.not_classvar and last:
            warnings.append("annotated-without-ClassVar")
        if found.bare_annotation and not last:
            warnings.append("annotation-without-value")
        if len(found.bindings) > 1 and not found.elsewhere:
            warnings.append("declared-more-than-once")
        if found.strict_open:
            warnings.append("strict-reading-open")
        if found.set_on_instance:
            warnings.append("set-on-instance")
        return warnings

    def lens(self, tree: Reading | None) -> str | None:
        if tree is None or tree.accept:
            return None
        inherited = "" if tree.origin == "self" else "-inherited"
        match tree.value:
            case True:
                return "on" + inherited
            case False:
                return "off" + inherited
            case None:
                return "undeclared"
            case "non-literal":
                return "not-literal"
        return None

    def listed(self, found: ClassSource, started: bool, is_open: bool) -> str:
        """Whether a reader has to list the class (`must`), may (`may`), or lists what is no server (`not`)."""
        if started or found.bindings or found.bare_annotation:
            return "must" if not found.elsewhere else "may"
        ran = self.ran(self.tree, found)
        if ran is None:
            return "may"
        if ran.server or any(a.created or (a.kind == "known" and a.has) for a in ran.mro):
            return "must"
        return "may" if is_open or any(a.kind == "unknown" for a in ran.mro) else "not"

    def ran(self, result: Run, found: ClassSource) -> RunClass | None:
        """The class that the run made from this statement; the last one, when a loop or a function made several."""
        for made in reversed(result.classes):
            if made.line == found.first_line and made.name.split(".")[-1] == found.node.name:
                return made
        return None

    def reading(self, result: Run, found: ClassSource) -> Reading | None:
        made = self.ran(result, found)
        # What the run did not come to it cannot prove: only what stands in the body itself is certain, and that only
        # where nothing outside may set it again.
        if made is None or result.error:
            return Reading(found.declared, "self") if found.last and not self.source.outside else None
        return self.along(made)

    def along(self, made: RunClass) -> Reading:
        """The first class of the method resolution order that declares, or may declare."""
        plain = True
        for index, ancestor in enumerate(made.mro):
            if ancestor.kind == "unknown":
                return Reading(UNKNOWN, f"unresolved {ancestor.name}", [None] if self.names_gym(made) else [])
            if ancestor.kind == "known":
                if ancestor.has:
                    break
                continue
            source = source_of(ancestor.file)
            found = source.class_at(ancestor.line, ancestor.name.split(".")[-1]) if source else None
            if source is None or found is None:
                return Reading(None, None, ANY)
            own = self.own(source, found, ancestor, self.origin(index, ancestor))
            if own:
                if not plain:
                    own.accept = [*own.accept, UNKNOWN, NON_LITERAL]
                if index and found.not_classvar:
                    # A pydantic field of a base is no attribute of the class that inherits it.
                    own.accept = [*own.accept, None]
                return own
            plain = plain and self.has_plain_bases(source, found)
        if any(a.kind == "unknown" for a in made.mro):
            # Gym's class with the flag is known by name, wherever it is imported from.
            return Reading(UNKNOWN, "unresolved", [None] if self.names_gym(made) else [])
        return Reading(None, None, [] if plain else [UNKNOWN, NON_LITERAL])

    def names_gym(self, made: RunClass) -> bool:
        """A base that is written as one of Gym's own: before it no class that derives from the flag's can stand."""
        found = self.source.class_at(made.line, made.name.split(".")[-1]) if made.file == str(self.path) else None
        first = ast.unparse(found.node.bases[0]) if found and found.node.bases else ""
        star = any(isinstance(n, ast.alias) and n.name == "*" for n in ast.walk(self.source.tree))
        return first == "SimpleServer" or (star and first.startswith("Simple"))

    def origin(self, index: int, ancestor: Ancestor) -> str:
        if index == 0:
            return "self"
        if ancestor.file == str(self.path):
            return ancestor.name
        return f"{Path(ancestor.file).relative_to(self.root).as_posix()}:{ancestor.name}"

    def own(self, source: Source, found: ClassSource, ancestor: Ancestor, origin: str) -> Reading | None:
        outside = [o for o in self.source.outside if self.names(o.target, ancestor)]
        if source is not self.source:
            outside += [o for o in source.outside if o.target == found.qualname]
        if outside:
            last = outside[-1]
            if all(o.straight for o in outside) and last.value != NON_LITERAL and ancestor.final == repr(last.value):
                return Reading(last.value, origin, [], last.line)
            return Reading(NON_LITERAL, origin, ANY)
        if found.last:
            return Reading(found.declared, origin)
        if ancestor.has and not found.elsewhere:
            # Set by a decorator, by `exec`, by `locals()`: no text can tell.
            return Reading(NON_LITERAL, origin, ANY)
        return None

    def names(self, target: str, ancestor: Ancestor) -> bool:
        """Whether the expression before `.ray_enabled = …` may be this class."""
        name = ancestor.name.split(".")[-1]
        root = target.split(".")[0]
        return target.split(".")[-1] == name or root not in {c.node.name for c in self.source.classes}

    def has_plain_bases(self, source: Source, found: ClassSource) -> bool:
        names = plain_base_names(source, found)
        if names is None or not found.top_level:
            return False
        loaded = [source_of(a) for a in {str(self.path), str(source.path)}]
        return not any(s and set(names) & s.branching_names for s in loaded)

    def started(self, found: ClassSource) -> tuple[bool, bool]:
        started = False
        is_open = False
        for call, receiver in self.calls():
            same = receiver is not None and receiver.file == str(self.path) and receiver.line == found.first_line
            if receiver and self.is_computed(call, receiver):
                is_open = True
            elif same and receiver and receiver.name.split(".")[-1] == found.node.name:
                started = started or call.starts
                is_open = is_open or call.open
            elif receiver is None:
                is_open = True
        if found.node.name in self.source.branching_names and not started:
            is_open = True
        ran = any(s.file == str(self.path) and s.line == found.first_line for s in self.tree.started)
        return started, is_open or (ran and not started) or self.tree.error is not None

    def is_computed(self, call: Call, receiver: RunClass) -> bool:
        """Whether the receiver is the result of something: a call, a loop, a rebinding by a function, a decorator."""
        root = call.text.split(".")[0]
        while root not in self.source.branching_names and root in self.source.aliases:
            root = self.source.aliases[root] if self.source.aliases[root] != root else ""
        decorated = receiver.name != root and any(
            c.node.name == root and c.node.decorator_list for c in self.source.classes
        )
        return root in self.source.branching_names or not root.isidentifier() or decorated

    # The file

    def calls(self) -> list[tuple[Call, RunClass | None]]:
        receivers = self.tree.receivers or [None] * len(self.source.calls)
        return [*zip(self.source.calls, receivers, strict=True)]

    def entrypoint(self) -> dict[str, Any]:
        calls = [
            {
                "line": call.line,
                "col": call.col,
                "receiver": call.text,
                "guard": call.guard,
                "function": call.function,
                "starts": call.starts,
                "open": call.open,
            }
            for call in self.source.calls
        ]
        starting = [call for call in self.source.calls if call.starts]
        answer: dict[str, Any] = {"isEntrypoint": bool(starting), "accept": {}, "open": [], "calls": calls}
        answer.update(self.strict())
        for name, result in (("sameFile", self.alone), ("tree", self.tree)):
            reading = self.union(result)
            if reading is None:
                answer["open"].append(name)
            else:
                answer[name] = reading.value
                if reading.accept:
                    answer["accept"][name] = [reading.value, *reading.accept]
        starts = self.starts()
        if starts is None:
            answer["open"].append("starts")
        else:
            answer["starts"] = starts
        return answer

    def starts(self) -> list[str] | None:
        names: list[str] = []
        for call, receiver in self.calls():
            if not call.starts and not call.open:
                continue
            if receiver is None or call.open or self.is_computed(call, receiver):
                return None
            names.append(receiver.name.replace(".<locals>", "") if receiver.file == str(self.path) else call.text)
        return [*dict.fromkeys(names)]

    def strict(self) -> dict[str, Any]:
        top = {c.node.name: c for c in sorted(self.source.classes, key=lambda c: c.line) if c.top_level}
        values: list[Any] = []
        variants: list[list[Any]] = [[]]
        is_open = False
        for call in self.source.calls:
            name = getattr(call.receiver, "id", None)
            if name is None:
                continue
            found = top.get(name)
            values.append(found.strict if found else None)
            is_open = is_open or (found is not None and found.strict_open)
            ways = found.strict_accept if found and found.strict_accept else [values[-1]]
            variants = [[*variant, way] for variant in variants for way in ways][:200]
        accept = [*dict.fromkeys(_strict_union(variant) for variant in variants)]
        answer: dict[str, Any] = {"strict": _strict_union(values), "strictOpen": is_open}
        if len(accept) > 1:
            answer["strictAccept"] = accept
        return answer

    def union(self, result: Run) -> Reading | None:
        values: list[Any] = []
        accept: list[Any] = []
        receivers = result.receivers or [None] * len(self.source.calls)
        for call, receiver in zip(self.source.calls, receivers, strict=True):
            if call.open:
                return None
            if not call.starts:
                continue
            if receiver is None or result.error:
                return None
            reading = self.along(receiver)
            values.append(reading.value)
            accept += reading.accept
            if self.is_computed(call, receiver):
                accept += ANY
        if not values:
            return Reading(None, None)
        if accept:
            return Reading(_union(values), None, ANY if len(values) > 1 else accept)
        others = [v for v in dict.fromkeys(values) if v not in (True, False)]
        return Reading(_union(values), None, others if len(others) > 1 and True not in values else [])


def _strict_union(values: list[Any]) -> Any:
    if True in values:
        return True
    return False if values and None not in values else None


def _union(values: list[Any]) -> Any:
    if True in values:
        return True
    return next((v for v in values if v is not False), False)


def case_of(path: Path, root: Path) -> dict[str, Any]:
    file = path.relative_to(root).as_posix()
    try:
        source = read_source(path)
    except Unparsable as error:
        return {
            "file": file,
            "parse": "syntax-error",
            "why": str(error),
            "entrypoint": {"strict": None},
            "tolerant": {"written": written_values(error.text)},
        }
    reading = FileReading(path, root, source)
    classes = reading.classes()
    return {
        "file": file,
        "parse": "ok",
        "encoding": source.encoding,
        "bom": source.bom,
        "classes": [c for c in classes if c["listed"] != "not"],
        "notServers": [{"qualname": c["qualname"], "line": c["line"]} for c in classes if c["listed"] == "not"],
        "entrypoint": reading.entrypoint(),
        "runtime": {
            "started": [
                {"class": s.name, "flag": flag}
                for s, flag in zip(reading.tree.started, reading.tree.flags, strict=True)
            ],
            "error": reading.tree.error,
            "missing": reading.tree.missing,
        },
    }


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--root", type=Path, required=True)
    arguments.add_argument("files", type=Path, nargs="*")
    options = arguments.parse_args()
    root = options.root.resolve()
    files = options.files or sorted(root.rglob("*.py"))
    for path in files:
        print(json.dumps(case_of(path.resolve(), root), ensure_ascii=False))


if __name__ == "__main__":
    main()
