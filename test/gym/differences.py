"""Where two answers about the same files differ: those of the reference and those of the extension's reader.

    python test/gym/differences.py REFERENCE.jsonl READER.jsonl

Prints one line of JSON a difference: file, what, expected, got.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NON_LITERAL = "non-literal"
UNKNOWN = "unknown"
PLAIN_KINDS = ("assign", "annotated", "chained", "conditional")
Difference = tuple[str, Any, Any]


def differences(expected: dict[str, Any], got: dict[str, Any]) -> Iterator[Difference]:
    if expected["parse"] != got["parse"]:
        yield "parse", f"{expected['parse']} {expected.get('why', '')}", got["parse"]
    if expected["parse"] != "ok":
        yield from _half_typed(expected, got)
        return
    for key in ("encoding", "bom"):
        if expected[key] != got[key]:
            yield key, expected[key], got[key]
    found = {(c["line"], c["col"]): c for c in got["classes"]}
    wanted = {(c["line"], c["col"]): c for c in expected["classes"]}
    for place, cls in wanted.items():
        if place in found:
            for what, right, answer in _class_differences(cls, found[place]):
                yield f"{cls['qualname']} (line {cls['line']}): {what}", right, answer
        elif cls["listed"] == "must":
            yield f"{cls['qualname']} (line {cls['line']})", "listed", "not listed there"
    for place, cls in found.items():
        if place not in wanted:
            yield f"{cls['qualname']} (line {cls['line']})", "not listed: no server can be", "listed"
    for what, right, answer in _file_differences(expected["entrypoint"], got["entrypoint"]):
        yield f"file: {what}", right, answer


def _class_differences(right: dict[str, Any], got: dict[str, Any]) -> Iterator[Difference]:
    for key in ("name", "qualname"):
        if _plain(right[key]) != _plain(got[key]):
            yield key, right[key], got[key]
    for key in ("declared", "strict"):
        if got[key] not in _accepted(right, key):
            yield key, right[key], got[key]
    if right["started"] != got["started"] and "started" not in right["open"]:
        yield "started", right["started"], got["started"]
    yield from _declaration(right["declaration"], got["declaration"])
    for key in ("sameFile", "tree"):
        if key in right["open"]:
            continue
        if got[key]["value"] not in (right["accept"].get(key) or [right[key]["value"]]):
            yield key, right[key], got[key]
        elif key not in right["accept"] and right[key]["value"] != UNKNOWN and got[key] != right[key]:
            yield f"{key} origin", right[key], got[key]
    inner = [w for w in right["warnings"] if w != "set-outside-class-body"]
    answered = [w for w in got["warnings"] if w != "set-outside-class-body"]
    if sorted(inner) != sorted(answered) and "warnings" not in right["open"]:
        yield "warnings", inner, answered
    if right["lens"] and right["lens"] != got["lens"]:
        yield "lens", right["lens"], got["lens"]


def _declaration(right: dict[str, Any] | None, got: dict[str, Any] | None) -> Iterator[Difference]:
    if right is None or got is None:
        if right != got:
            yield "declaration", right, got
    elif right["kind"] not in PLAIN_KINDS:
        if not right["line"] - 1 <= got["line"] <= right["endLine"]:
            yield "declaration line", right, got
    elif right != got and not (right["kind"] == "conditional" and _starts_alike(right, got)):
        yield "declaration", right, got


def _starts_alike(right: dict[str, Any], got: dict[str, Any]) -> bool:
    """What is bound on a branch, but by no plain assignment, has no settled range."""
    return right["value"] == got["value"] and got["line"] <= right["line"] <= got["endLine"]


def _file_differences(right: dict[str, Any], got: dict[str, Any]) -> Iterator[Difference]:
    strict = right.get("strictAccept") or [right["strict"]]
    if got["strict"] not in strict:
        yield "strict", strict, got["strict"]
    if right["strictOpen"] != got["strictOpen"]:
        yield "strictOpen", right["strictOpen"], got["strictOpen"]
    for key in ("sameFile", "tree"):
        if key not in right["open"] and got[key] not in (right["accept"].get(key) or [right[key]]):
            yield key, right["accept"].get(key) or right[key], got[key]
    if "starts" not in right["open"] and sorted(map(_plain, right["starts"])) != sorted(map(_plain, got["starts"])):
        yield "starts", right["starts"], got["starts"]
    calls = {(c["line"], c["col"]): c for c in got["calls"]}
    wanted = {(c["line"], c["col"]): c for c in right["calls"]}
    for place in wanted.keys() - calls.keys():
        if _is_dotted(wanted[place]["receiver"]):
            yield "call", wanted[place], "not there"
    for place in calls.keys() - wanted.keys():
        yield "call", "no call there", calls[place]
    for place in wanted.keys() & calls.keys():
        want, call = wanted[place], calls[place]
        if _is_dotted(want["receiver"]) and _plain(want["receiver"]) != _plain(call["receiver"]).strip("()"):
            yield "call receiver", want, call
        if want["open"]:
            continue
        if want["starts"] != call["starts"]:
            yield "call starts", want, call
        if want["guard"] != "not main" and want["guard"] != call["guard"]:
            yield "call guard", want, call
        if want["guard"] == "function" and want["function"] and want["function"] != call["function"]:
            yield "call function", want, call


def _half_typed(expected: dict[str, Any], got: dict[str, Any]) -> Iterator[Difference]:
    if got["entrypoint"]["strict"] is not None:
        yield "file: strict", None, got["entrypoint"]["strict"]
    written = expected["tolerant"]["written"]
    for cls in got["classes"]:
        allowed = [None, NON_LITERAL, *written.get(_plain(cls["name"]), [])]
        if cls["declared"] not in allowed:
            yield f"{cls['name']}: declared, though it is not written", allowed, cls["declared"]
        if cls["strict"] not in allowed:
            yield f"{cls['name']}: strict, though it is not written", allowed, cls["strict"]
        if _plain(cls["name"]) not in written:
            yield f"{cls['name']}: listed, though no such class is written", [*written], cls["name"]


def _is_dotted(receiver: str) -> bool:
    """Calls on anything but a name or a path of names start what no text can tell: whether they are told of is open."""
    return all(part.isidentifier() for part in receiver.split("."))


def _accepted(right: dict[str, Any], key: str) -> list[Any]:
    return right["accept"].get(key) or [right[key]]


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace(".<locals>", "")


def read(path: str) -> dict[str, dict[str, Any]]:
    lines = Path(path).read_text(encoding="utf-8").split("\n")
    return {case["file"]: case for case in (json.loads(line) for line in lines if line)}


def main() -> None:
    expected, got = read(sys.argv[1]), read(sys.argv[2])
    for file, case in expected.items():
        answer = got.get(file)
        found = differences(case, answer) if answer else iter([("file", "an answer", "none")])
        for what, right, answered in found:
            print(json.dumps({"file": file, "what": what, "expected": right, "got": answered}, ensure_ascii=False))


if __name__ == "__main__":
    main()
