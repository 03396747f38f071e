"""Runs a server file as `__main__` against a stand-in for nemo-gym, and tells what Python made of its classes.

Bases, method resolution order, aliases, imports and `setattr` are thereby Python's own answer, not a second opinion.
"""

from __future__ import annotations

import builtins
import importlib
import json
import os
import signal
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STUB = Path(__file__).parent / "stub"
FLAG = "ray_enabled"
WORKSPACE = "_workspace"
LIMIT_SECONDS = 5


@dataclass(frozen=True)
class Ancestor:
    """One class of a method resolution order."""

    kind: str  # source, unknown, known
    name: str
    file: str
    line: int  # `co_firstlineno`: of the first decorator
    has: bool
    created: str | None
    final: str | None


@dataclass(frozen=True)
class RunClass:
    file: str
    line: int
    name: str
    server: bool
    mro: list[Ancestor]


@dataclass(frozen=True)
class Run:
    classes: list[RunClass]  # those made by class statements, in the order in which they were made
    receivers: list[RunClass | None]  # of the asked expressions
    started: list[RunClass]
    flags: list[str]
    error: str | None
    missing: bool  # a module was not found, and something stands in for it


def run(path: Path, root: Path, receivers: list[str], guarded: Callable[[str, int], bool], alone: bool) -> Run:
    """In a process of its own. `alone` follows no import but those of the standard library and nemo-gym.

    A module that is missing ends the run, as it would in earnest; then the file is run again with a stand-in for it.
    """
    result = _forked(lambda: _run(path, root, receivers, guarded, alone, stand_in=alone))
    if not alone and (result.error or "").startswith(("ModuleNotFoundError", "ImportError")):
        return _forked(lambda: _run(path, root, receivers, guarded, alone, stand_in=True))
    return result


def _forked(work: Callable[[], Run]) -> Run:
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        try:
            signal.alarm(LIMIT_SECONDS)
            answer = json.dumps(work(), default=lambda value: value.__dict__)
            with os.fdopen(writing, "w") as stream:
                stream.write(answer)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        answer = stream.read()
    os.waitpid(process, 0)
    if not answer:
        return Run([], [None] * 0, [], [], "the process ended without an answer", False)
    raw = json.loads(answer)

    def revive(value: dict[str, Any] | None) -> RunClass | None:
        if value is None:
            return None
        return RunClass(**{**value, "mro": [Ancestor(**a) for a in value["mro"]]})

    return Run(
        [c for c in map(revive, raw["classes"]) if c],
        [revive(c) for c in raw["receivers"]],
        [c for c in map(revive, raw["started"]) if c],
        raw["flags"],
        raw["error"],
        raw["missing"],
    )


def _run(
    path: Path, root: Path, receivers: list[str], guarded: Callable[[str, int], bool], alone: bool, stand_in: bool
) -> Run:
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    os.chdir(path.parent)
    sys.argv = [str(path)]
    sys.dont_write_bytecode = True
    standard = [entry for entry in sys.path if entry and "site-packages" not in entry and Path(entry) != STUB.parent]
    sys.path = [*([] if alone else [str(path.parent), str(root)]), str(STUB), *standard]
    workspace = types.ModuleType(WORKSPACE)
    workspace.__path__ = [] if alone else [str(root)]
    sys.modules[WORKSPACE] = workspace

    server_utils = importlib.import_module("nemo_gym.server_utils")
    unknown = _unknown_maker(server_utils)
    state = {"missing": False, "star": False}

    main = types.ModuleType("__main__")
    main.__file__ = str(path)
    folder = path.parent.relative_to(root).parts
    main.__package__ = ".".join([WORKSPACE, *folder])
    main.__dict__["__builtins__"] = _Builtins(vars(builtins), state, unknown)
    sys.modules["__main__"] = main

    created: dict[type, tuple[str, int, str | None]] = {}
    order: list[type] = []
    build = builtins.__build_class__

    def recording_build(function: Any, name: str, *bases: Any, **keywords: Any) -> Any:
        made = build(function, name, *bases, **keywords)
        code = function.__code__
        if isinstance(made, type):
            created[made] = (code.co_filename, code.co_firstlineno, _flag_of(made))
            order.append(made)
        return made

    main.__dict__["__builtins__"]["__build_class__"] = recording_build
    builtins.__build_class__ = recording_build

    real_import = builtins.__import__
    main_file = str(path)

    def importing(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        caller = (globals or {}).get("__file__") or ""
        line = sys._getframe(1).f_lineno
        own = caller == main_file
        top = name.split(".")[0]
        known = level == 0 and (top in sys.stdlib_module_names or top in ("nemo_gym", "pydantic"))
        if alone and own and not known:
            state["star"] = state["star"] or "*" in (fromlist or ())
            return _stand_in(name, unknown)
        if not stand_in or not caller.startswith(f"{root}{os.sep}"):
            return real_import(name, globals, locals, fromlist, level)
        try:
            module = real_import(name, globals, locals, fromlist, level)
            if not guarded(caller, line):
                for wanted in fromlist or ():
                    if wanted != "*" and not hasattr(module, wanted):
                        state["missing"] = True
                        setattr(module, wanted, unknown(f"{name}:{wanted}"))
            return module
        except ImportError:
            if guarded(caller, line):
                raise
            state["missing"] = True
            state["star"] = state["star"] or "*" in (fromlist or ())
            return _stand_in(name, unknown)

    main.__dict__["__builtins__"]["__import__"] = importing
    builtins.__import__ = importing

    error = None
    try:
        exec(compile(path.read_bytes(), main_file, "exec", dont_inherit=True), main.__dict__)
    except SystemExit:
        pass
    except BaseException as raised:
        error = f"{type(raised).__name__}: {raised}"

    def describe(cls: type) -> RunClass:
        file, line, _ = created.get(cls, ("", 0, None))
        ancestors = []
        for ancestor in type.mro(cls) if type(cls) is type else cls.__mro__:
            has = FLAG in vars(ancestor)
            own_file, own_line, at_first = created.get(ancestor, ("", 0, None))
            if "_unknown" in vars(ancestor):
                ancestors.append(Ancestor("unknown", ancestor._unknown, "", 0, False, None, None))
            elif own_file and not own_file.startswith(str(STUB)) and Path(own_file).is_relative_to(root):
                ancestors.append(
                    Ancestor("source", ancestor.__qualname__, own_file, own_line, has, at_first, _flag_of(ancestor))
                )
            else:
                ancestors.append(Ancestor("known", ancestor.__qualname__, "", 0, has, None, _flag_of(ancestor)))
        return RunClass(file, line, cls.__qualname__, issubclass(cls, server_utils.SimpleServer), ancestors)

    def receiver(expression: str) -> RunClass | None:
        try:
            value = eval(expression, main.__dict__)
        except BaseException:
            return None
        return describe(value) if isinstance(value, type) else None

    dotted = [
        expression if all(p.isidentifier() for p in expression.split(".")) else "None" for expression in receivers
    ]
    return Run(
        [describe(cls) for cls in order if created[cls][0] == main_file],
        [receiver(text) for text in dotted],
        [describe(cls) for cls in server_utils.started],
        [repr(getattr(cls, FLAG, "no such attribute"))[:80] for cls in server_utils.started],
        error,
        state["missing"],
    )


def _flag_of(cls: type) -> str | None:
    """A `repr`, so that what crosses the process is text; the address in it is part of the identity."""
    return repr(vars(cls)[FLAG])[:80] if FLAG in vars(cls) else None


class _Builtins(dict[str, Any]):
    """After `from unknown import *` every name that nothing else binds may come from there."""

    def __init__(self, names: dict[str, Any], state: dict[str, bool], unknown: Callable[[str], type]) -> None:
        super().__init__(names)
        self.state = state
        self.unknown = unknown

    def __missing__(self, name: str) -> Any:
        if self.state["star"] and not name.startswith("__"):
            return self.unknown(f"*:{name}")
        raise KeyError(name)


def _stand_in(name: str, unknown: Callable[[str], type]) -> types.ModuleType:
    class StandIn(types.ModuleType):
        def __getattr__(self, attribute: str) -> Any:
            if attribute.startswith("__"):
                raise AttributeError(attribute)
            value = unknown(f"{name}:{attribute}")
            setattr(self, attribute, value)
            return value

    return StandIn(name)


def _unknown_maker(server_utils: Any) -> Callable[[str], type]:
    class UnknownMeta(type(server_utils.SimpleServer)):  # type: ignore[misc]
        def __getattr__(cls, name: str) -> Any:
            if name.startswith("__") or name == FLAG:
                raise AttributeError(name)
            if name == "run_webserver":
                return lambda *args, **kwargs: server_utils.started.append(cls)
            return make(f"{cls.__qualname__}.{name}")

        def __getitem__(cls, key: Any) -> Any:
            return cls

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            decorating = len(args) == 1 and isinstance(args[0], (type, types.FunctionType))
            return args[0] if decorating else cls

    made: dict[str, type] = {}

    def make(name: str) -> type:
        if name not in made:
            made[name] = UnknownMeta("Unknown", (), {"_unknown": name})
        return made[name]

    return make
