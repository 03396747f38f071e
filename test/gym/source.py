"""What the text of a server file says, read with Python's own `ast`."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import unicodedata
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FLAG = "ray_enabled"
NON_LITERAL = "non-literal"
COMPOUND = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.TryStar, ast.With, ast.AsyncWith, ast.Match)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Unparsable(Exception):
    """Python cannot read the file; `text` is what could be decoded all the same."""

    def __init__(self, why: str, text: str) -> None:
        super().__init__(why)
        self.text = text


@dataclass
class Binding:
    """One place in a class body that gives `ray_enabled` a value, or takes it away."""

    node: ast.AST
    kind: str  # assign, annotated, chained, conditional, other, delete
    value: Any = NON_LITERAL


@dataclass
class ClassSource:
    node: ast.ClassDef
    qualname: str
    top_level: bool
    line: int
    col: int
    bindings: list[Binding] = field(default_factory=list)
    bare_annotation: bool = False
    not_classvar: bool = False
    elsewhere: bool = False  # `global ray_enabled` in the body: what is bound there is no attribute
    set_on_instance: bool = False
    strict: bool | None = None
    strict_accept: list[Any] = field(default_factory=list)
    strict_open: bool = False

    @property
    def last(self) -> Binding | None:
        if self.elsewhere or not self.bindings or self.bindings[-1].kind == "delete":
            return None
        return self.bindings[-1]

    @property
    def declared(self) -> Any:
        return self.last.value if self.last else None

    @property
    def first_line(self) -> int:
        """As `co_firstlineno` counts it: the decorators belong to the class."""
        return min([self.node.lineno, *(d.lineno for d in self.node.decorator_list)])


@dataclass
class Call:
    node: ast.Call
    receiver: ast.expr
    line: int
    col: int
    text: str
    guard: str
    function: str | None
    starts: bool
    open: bool  # the published words do not settle guard and starts
    local: bool  # the receiver is a local name of a function


@dataclass
class Outside:
    """`X.ray_enabled = True` or `setattr(X, "ray_enabled", True)` outside the body of X."""

    target: str
    line: int
    value: Any
    straight: bool
    function: bool


@dataclass
class Source:
    path: Path
    text: str
    encoding: str
    bom: bool
    tree: ast.Module
    lines: list[str]
    classes: list[ClassSource] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    outside: list[Outside] = field(default_factory=list)
    plain_names: set[str] = field(default_factory=set)
    branching_names: set[str] = field(default_factory=set)
    aliases: dict[str, str] = field(default_factory=dict)  # of a name, the root of what it was last said to be
    guarded_imports: list[tuple[int, int]] = field(default_factory=list)

    def position(self, line: int, byte_col: int) -> tuple[int, int]:
        """VS Code's: 0-based line, 0-based UTF-16 column."""
        before = self.lines[line - 1].encode()[:byte_col].decode()
        return line - 1, utf16(before)

    def span(self, node: ast.AST) -> dict[str, int]:
        line, col = self.position(node.lineno, node.col_offset)
        end_line, end_col = self.position(node.end_lineno, node.end_col_offset)
        return {"line": line, "col": col, "endLine": end_line, "endCol": end_col}

    def class_at(self, first_line: int, name: str) -> ClassSource | None:
        return next((c for c in self.classes if c.first_line == first_line and c.node.name == name), None)


def utf16(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def decode(data: bytes) -> tuple[str, str, bool]:
    bom = data.startswith(b"\xef\xbb\xbf")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise Unparsable(str(error), data.decode("utf-8", "replace").removeprefix("\ufeff")) from error
    return text.removeprefix("\ufeff"), encoding, bom


def read_source(path: Path) -> Source:
    """Raises `Unparsable` where `ast.parse` of the file's bytes does."""
    data = path.read_bytes()
    text, encoding, bom = decode(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unparsable(f"{type(error).__name__}: {error}", text) from error
    source = Source(path, text, encoding, bom, tree, re.split(r"\r\n|\r|\n", text))
    _Reader(source).read()
    return source


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source

    def read(self) -> None:
        self.walk(self.source.tree, [])
        _module_names(self.source)

    def walk(self, node: ast.AST, above: list[tuple[ast.AST, str]]) -> None:
        if isinstance(node, ast.ClassDef):
            self.source.classes.append(self.read_class(node, above))
        elif isinstance(node, ast.Call):
            self.read_call(node, above)
        if isinstance(node, (ast.Try, ast.TryStar)) and node.handlers:
            self.source.guarded_imports.append((node.body[0].lineno, node.body[-1].end_lineno or 0))
        self.read_outside(node, above)
        for name, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    self.walk(child, [*above, (node, name)])

    def read_class(self, node: ast.ClassDef, above: list[tuple[ast.AST, str]]) -> ClassSource:
        parts: list[str] = []
        for ancestor, name in above:
            if name != "body":
                continue
            if isinstance(ancestor, ast.ClassDef):
                parts.append(ancestor.name)
            elif isinstance(ancestor, FUNCTIONS):
                parts += [getattr(ancestor, "name", "<lambda>"), "<locals>"]
        line, col = self.name_position(node)
        top_level = len(above) == 1
        found = ClassSource(node, ".".join([*parts, node.name]), top_level, line, col)
        for statement in node.body:
            _class_bindings(statement, found, direct=True)
        _read_strict(found)
        found.set_on_instance = any(
            isinstance(n, ast.Attribute)
            and n.attr == FLAG
            and isinstance(n.ctx, ast.Store)
            and isinstance(n.value, ast.Name)
            and n.value.id == "self"
            for n in ast.walk(node)
        )
        return found

    def name_position(self, node: ast.ClassDef) -> tuple[int, int]:
        """`ast` gives the place of `class`; the name follows after blanks and continued lines."""
        line = node.lineno
        col = len(self.source.lines[line - 1].encode()[: node.col_offset].decode()) + len("class")
        while True:
            rest = self.source.lines[line - 1][col:]
            stripped = rest.lstrip(" \t\f")
            if not stripped.startswith("\\"):
                return line - 1, utf16(self.source.lines[line - 1][: col + len(rest) - len(stripped)])
            line, col = line + 1, 0

    def read_call(self, node: ast.Call, above: list[tuple[ast.AST, str]]) -> None:
        if not (isinstance(node.func, ast.Attribute) and node.func.attr == "run_webserver"):
            return
        receiver = node.func.value
        line, col = self.source.position(node.lineno, node.col_offset)
        guard, starts, is_open = _guard(above)
        functions = [a for a, name in above if isinstance(a, FUNCTIONS)]
        function = getattr(functions[0], "name", None) if len(functions) == 1 else None
        root = receiver
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        local = isinstance(root, ast.Name) and any(root.id in _local_names(f) for f in functions)
        self.source.calls.append(
            Call(node, receiver, line, col, ast.unparse(receiver), guard, function, starts, is_open, local)
        )

    def read_outside(self, node: ast.AST, above: list[tuple[ast.AST, str]]) -> None:
        straight = len(above) <= 2 and all(isinstance(a, (ast.Module, ast.Expr)) for a, _ in above)
        function = any(isinstance(a, FUNCTIONS) for a, _ in above)

        def add(target: ast.expr, value: Any) -> None:
            dotted = ast.unparse(target)
            if dotted != "self":
                self.source.outside.append(Outside(dotted, node.lineno - 1, value, straight, function))

        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Delete)):
            targets = node.targets if isinstance(node, (ast.Assign, ast.Delete)) else [node.target]
            plain = isinstance(node, ast.Assign) or (isinstance(node, ast.AnnAssign) and node.value is not None)
            for target in targets:
                for inner in ast.walk(target):
                    if isinstance(inner, ast.Attribute) and inner.attr == FLAG and not isinstance(inner.ctx, ast.Load):
                        add(inner.value, _literal(node.value) if plain and inner is target else NON_LITERAL)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "setattr" and len(node.args) == 3:
            target, name, value = node.args
            if isinstance(name, ast.Constant) and name.value == FLAG:
                add(target, _literal(value))


def _literal(node: ast.expr | None) -> Any:
    if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool)):
        return node.value
    return NON_LITERAL


def _is_flag(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == FLAG


def _class_bindings(statement: ast.stmt, found: ClassSource, direct: bool) -> None:
    """Adds what one statement of a class body binds, in the order of the text."""

    def add(node: ast.AST, kind: str, value: Any = NON_LITERAL) -> None:
        if direct or kind == "delete":
            found.bindings.append(Binding(node, kind if direct else "conditional", value if direct else NON_LITERAL))
        else:
            found.bindings.append(Binding(node, "conditional"))

    if isinstance(statement, ast.Assign) and any(_is_flag(t) for t in statement.targets):
        for node in _bound_in(statement.value):
            add(node, "other")
        chained = len(statement.targets) > 1
        plain = all(isinstance(t, (ast.Name, ast.Attribute, ast.Subscript)) for t in statement.targets)
        add(statement, "chained" if chained else "assign", _literal(statement.value) if plain else NON_LITERAL)
        return
    if isinstance(statement, ast.AnnAssign) and _is_flag(statement.target):
        if statement.value is None:
            found.bare_annotation = True
        else:
            for node in _bound_in(statement.value):
                add(node, "other")
            add(statement, "annotated", _literal(statement.value))
        if statement.simple:
            # `(ray_enabled): bool` leaves no annotation; `Final` with a value is a class attribute for pydantic too.
            found.not_classvar = not any(word in ast.unparse(statement.annotation) for word in ("ClassVar", "Final"))
        return
    if isinstance(statement, ast.AugAssign) and _is_flag(statement.target):
        add(statement, "augmented")
        return
    if isinstance(statement, ast.Delete) and any(_is_flag(n) for t in statement.targets for n in ast.walk(t)):
        add(statement, "delete")
        return
    if isinstance(statement, (ast.Global, ast.Nonlocal)):
        found.elsewhere = found.elsewhere or FLAG in statement.names
        return
    if isinstance(statement, COMPOUND):
        _compound_bindings(statement, found)
        return
    for node in _bound_in(statement):
        add(node, "other")


def _compound_bindings(node: ast.AST, found: ClassSource) -> None:
    for _, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.stmt):
                _class_bindings(child, found, direct=False)
            elif isinstance(child, (ast.ExceptHandler, ast.match_case)):
                for bound in [] if isinstance(child, ast.match_case) else _bound_in(child, deep=False):
                    found.bindings.append(Binding(bound, "conditional"))
                if isinstance(child, ast.match_case):
                    for bound in [*_bound_in(child.pattern), *(_bound_in(child.guard) if child.guard else [])]:
                        found.bindings.append(Binding(bound, "conditional"))
                for inner in child.body:
                    _class_bindings(inner, found, direct=False)
            elif isinstance(child, ast.AST):
                for bound in _bound_in(child):
                    found.bindings.append(Binding(bound, "conditional"))


def _bound_in(node: ast.AST, deep: bool = True) -> Iterator[ast.AST]:
    """Where a node binds the flag in the scope it stands in; bodies of nested scopes do not."""
    if isinstance(node, ast.Name):
        if node.id == FLAG and not isinstance(node.ctx, ast.Load):
            yield node
        return
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            if (alias.asname or alias.name.split(".")[0]) == FLAG:
                yield node
        return
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        arguments = node.args
        outer: list[ast.AST | None] = [
            *node.decorator_list,
            *arguments.defaults,
            *arguments.kw_defaults,
            *(a.annotation for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]),
            node.returns,
        ]
        for inner in outer:
            if inner is not None:
                yield from _bound_in(inner)
        if node.name == FLAG:
            yield node
        return
    if isinstance(node, ast.ClassDef):
        for inner in [*node.decorator_list, *node.bases, *node.keywords]:
            yield from _bound_in(inner)
        if node.name == FLAG:
            yield node
        return
    if isinstance(node, ast.Lambda):
        for inner in [*node.args.defaults, *node.args.kw_defaults]:
            if inner is not None:
                yield from _bound_in(inner)
        return
    if isinstance(node, COMPREHENSIONS):
        return
    if isinstance(node, ast.ExceptHandler) and node.name == FLAG:
        yield node
    if isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name == FLAG:
        yield node
    if isinstance(node, ast.MatchMapping) and node.rest == FLAG:
        yield node
    if deep:
        for child in ast.iter_child_nodes(node):
            yield from _bound_in(child)


def _read_strict(found: ClassSource) -> None:
    """The supervisor's reading: a literal assigned in the body itself, inherited from nobody.

    Two assignments, and `a = ray_enabled = True`, are not settled by any published text.
    """
    direct: list[tuple[Any, bool]] = []
    for statement in found.node.body:
        if isinstance(statement, ast.Assign) and any(_is_flag(t) for t in statement.targets):
            direct.append((_literal(statement.value), len(statement.targets) > 1))
        elif isinstance(statement, ast.AnnAssign) and _is_flag(statement.target) and statement.value is not None:
            direct.append((_literal(statement.value), False))
    values = [value if isinstance(value, bool) else None for value, _ in direct]
    found.strict = values[-1] if values else None
    found.strict_open = len(direct) > 1 or any(chained for _, chained in direct)
    if found.strict_open:
        found.strict_accept = [*dict.fromkeys([*values, *([None] if any(c for _, c in direct) else [])])]
    elif found.strict is not None and any(b.kind in ("other", "augmented") for b in found.bindings):
        # "A literal before it may still be read."
        found.strict_accept = [found.strict, None]


def _is_main_test(test: ast.expr) -> str | None:
    """`main`, `not main`, `fastapi`, or nothing that is known."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        sides = [test.left, test.comparators[0]]
        named = any(isinstance(s, ast.Name) and s.id == "__name__" for s in sides)
        if named and any(isinstance(s, ast.Constant) and s.value == "__main__" for s in sides):
            if isinstance(test.ops[0], ast.Eq):
                return "main"
            if isinstance(test.ops[0], ast.NotEq):
                return "not main"
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return {"main": "not main", "not main": "main"}.get(_is_main_test(test.operand) or "")
    if isinstance(test, ast.Call):
        name = test.func.attr if isinstance(test.func, ast.Attribute) else getattr(test.func, "id", "")
        if name == "is_nemo_gym_fastapi_entrypoint":
            return "fastapi"
    return None


def _mentions_name(test: ast.AST) -> bool:
    return any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(test))


def _guard(above: list[tuple[ast.AST, str]]) -> tuple[str, bool, bool]:
    """guard, starts, and whether the published words leave it open."""
    found: list[str] = []
    is_open = False
    for node, where in above:
        if isinstance(node, ast.Lambda) or (isinstance(node, FUNCTIONS) and where != "body"):
            is_open = True
        if isinstance(node, FUNCTIONS):
            found.append("function")
        elif isinstance(node, ast.ClassDef):
            is_open = True
        elif isinstance(node, ast.IfExp):
            is_open = is_open or _mentions_name(node.test)
        elif isinstance(node, ast.If) and where in ("body", "orelse"):
            test = _is_main_test(node.test)
            if test is None and (_mentions_name(node.test) or "fastapi_entrypoint" in ast.unparse(node.test)):
                is_open = True
            elif test is not None and where == "body":
                found.append(test)
            elif test in ("main", "not main"):
                found.append("not main" if test == "main" else "main")
        elif isinstance(node, (ast.BoolOp, ast.Match, ast.While)) and _mentions_name(node):
            is_open = True
    kinds = set(found)
    if "function" in kinds and len(kinds) > 1:
        is_open = True
    if "fastapi" in kinds:
        return "fastapi", False, is_open
    if "not main" in kinds:
        return "not main", False, is_open
    if "main" in kinds:
        return "main", True, is_open
    return ("function" if "function" in kinds else "module"), True, is_open


def _local_names(function: ast.AST) -> set[str]:
    names = {a.arg for a in ast.walk(function) if isinstance(a, ast.arg)}
    body = function.body if isinstance(function.body, list) else [function.body]
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                names.add(node.name)
            elif isinstance(node, ast.alias):
                names.add(node.asname or node.name.split(".")[0])
    return names


def _module_names(source: Source) -> None:
    """Which names of the module are bound plainly (class, import, alias), and which only on some branch."""

    def dotted(node: ast.expr | None) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name)

    def visit(statements: list[ast.stmt], branching: bool) -> None:
        for statement in statements:
            names: list[str] = []
            plain = True
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                names = [a.asname or a.name.split(".")[0] for a in statement.names]
            elif isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                names = [statement.name]
                plain = isinstance(statement, ast.ClassDef)
            elif isinstance(statement, ast.Assign):
                plain = dotted(statement.value) and all(isinstance(t, ast.Name) for t in statement.targets)
                names = [
                    n.id
                    for t in statement.targets
                    for n in ast.walk(t)
                    if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
                ]
                if plain:
                    source.aliases.update(dict.fromkeys(names, ast.unparse(statement.value).split(".")[0]))
            elif isinstance(statement, COMPOUND):
                for node in ast.walk(statement):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                        source.branching_names.add(node.id)
                for _, value in ast.iter_fields(statement):
                    for child in value if isinstance(value, list) else []:
                        if isinstance(child, ast.stmt):
                            visit([child], True)
                        elif isinstance(child, (ast.ExceptHandler, ast.match_case)):
                            visit(child.body, True)
            else:
                plain = False
                names = [
                    n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
                ]
            for name in names:
                (source.branching_names if branching or not plain else source.plain_names).add(name)

    visit(source.tree.body, False)
    # `global X` in a function can bind it anew.
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Global):
            source.branching_names.update(node.names)


def plain_base_names(source: Source, found: ClassSource) -> list[str] | None:
    """The root names of the bases; none when a base is computed."""
    names: list[str] = []
    for base in found.node.bases:
        node: ast.expr = base
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        names.append(node.id)
    return names


WRITTEN = re.compile(
    rf"(?<!\w){FLAG}(?:[ \t\f]|\\\r?\n)*(?::[^=\n\r]*)?(?<![=!<>])=(?!=)(?:[ \t\f(]|\\\r?\n)*(True|False|None)(?!\w)"
    r"(?=[ \t\f)]*(?:#|;|\r|\n|$))"
)
VALUES = {"True": True, "False": False, "None": None}
HEADER = re.compile(r"(?<!\w)class(?:[ \t\f]|\\\r?\n)+(\w+)")


def written_values(text: str) -> dict[str, list[Any]]:
    """For a file that does not parse: the values that the text under each `class X` writes, by the name of the class.

    A class reaches to the next line that is not indented deeper than its header; what a nested class writes counts for
    the outer one too, since nobody can say where a half-typed class ends.
    """
    text = unicodedata.normalize("NFKC", text)
    written: dict[str, list[Any]] = {}
    for header in HEADER.finditer(text):
        values = written.setdefault(header.group(1), [])
        line_start = max(text.rfind("\n", 0, header.start()), text.rfind("\r", 0, header.start())) + 1
        before = text[line_start : header.start()]
        depth = len(before[: len(before) - len(before.lstrip())].expandtabs())
        end = len(text)
        for line in re.finditer(r"[\r\n]([ \t\f]*)(?=[^\s#)\]}])", text[header.end() :]):
            if len(line.group(1).expandtabs()) <= depth:
                end = header.end() + line.start()
                break
        values += [VALUES[m.group(1)] for m in WRITTEN.finditer(text, header.end(), end)]
    return {name: [*dict.fromkeys(values)] for name, values in written.items()}
