# ruff: noqa: E501, RUF001
"""Makes server files that nobody has looked at, from a seed: what Python allows, in combinations.

    python test/gym/makeCases.py --seed 7 --count 200 FOLDER

Each case is a folder of its own with an `app.py`: the named ones of `namedCases.py` first, then random ones, then files
cut off in the middle of typing.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from namedCases import BASE_IMPORT, ENCODED, NAMED

VALUES = ["True", "False", "True", "False", "None", "(True)", "((False))", "1", '"True"', "not False", "bool(1)"]
CONDITIONS = ["True", "len('a') == 1", "__debug__"]
BODY_FORMS = [
    "ray_enabled = {v}",
    "ray_enabled={v}",
    "ray_enabled: ClassVar[bool] = {v}",
    "ray_enabled: typing.ClassVar[bool] = {v}",
    "ray_enabled: 'ClassVar[bool]' = {v}",
    "ray_enabled: Final = {v}",
    "ray_enabled: Annotated[bool, 'x'] = {v}",
    "ray_enabled: bool = {v}",
    "(ray_enabled): bool = {v}",
    "ray_enabled: bool",
    "(ray_enabled) = {v}",
    "other = ray_enabled = {v}",
    "ray_enabled = other = {v}",
    "ray_enabled, other = {v}, 1",
    "[ray_enabled] = [{v}]",
    "(ray_enabled := {v})",
    "ray_enabled = {v}; other = 1",
    "other = '😀'; ray_enabled = {v}",
    "ray_enabled = {v}\nray_enabled = {w}",
    "ray_enabled = {v}\nray_enabled |= {w}",
    "ray_enabled = {v}\ndel ray_enabled",
    "ray_enabled = {v}\ndel (ray_enabled)",
    "ray_enabled = {v}\nray_enabled: bool",
    "if {c}:\n    ray_enabled = {v}",
    "ray_enabled = {v}\nif {c}:\n    ray_enabled = {w}",
    "if {c}:\n    ray_enabled = {v}\nelse:\n    ray_enabled = {w}\nray_enabled = {w}",
    "with open(__file__, 'rb'):\n    ray_enabled = {v}",
    "for ray_enabled in ({v},):\n    pass",
    "try:\n    ray_enabled = {v}\nexcept Exception as ray_error:\n    pass",
    "match 1:\n    case 1:\n        ray_enabled = {v}",
    "match {v}:\n    case ray_enabled:\n        pass",
    "while not locals().get('ray_enabled_done'):\n    ray_enabled = {v}\n    ray_enabled_done = True",
    "def ray_enabled(self):\n    return {v}",
    "class ray_enabled:\n    pass",
    "import json as ray_enabled",
    "class Inner:\n    ray_enabled = {v}",
    "def method(self):\n    ray_enabled = {v}\n    return ray_enabled",
    "def method(self):\n    self.ray_enabled = {v}",
    "def method(self, x=(ray_enabled := {v})):\n    pass",
    "f = lambda ray_enabled={v}: ray_enabled",
    "f = [ray_enabled for ray_enabled in (1, 2)]",
    "global ray_enabled\nray_enabled = {v}",
    '"""Docs.\n\n    ray_enabled = {v}\n    """',
    "# ray_enabled = {v}\npass",
    "ray_enabled \\\n        = {v}",
    "ray_enabled = (\n        # why\n        {v}\n    )",
    "ｒａｙ_enabled = {v}",
    "𝐫𝐚𝐲_enabled = {v}",
    "ray_enabled = {v}  # type: ignore",
    "ray_enabled_ = {v}",
    "x = dict(ray_enabled={v})",
    "text = f\"{{'ray_enabled = {v}'}} {{f'{{1}}'}}\"",
    "type ray_alias = int\nray_enabled = {v}",
    "pass",
    "...",
    "@property\ndef ray_enabled(self):\n    return {v}",
    "ray_enabled = {v} if {c} else {w}",
    "ray_enabled = {v} and {w}",
    "ray_enabled = True == {v}",
    "ray_enabled = __debug__",
]
GYM_BASES = ["SimpleResourcesServer", "SimpleResponsesAPIAgent", "SimpleResponsesAPIModel", "SimpleServer"]
GUARDS = [
    "if __name__ == '__main__':\n    {call}",
    'if __name__ == "__main__":\n    {call}',
    "if '__main__' == __name__:\n    {call}",
    "if (__name__ == '__main__'):\n    {call}",
    "if not __name__ != '__main__':\n    {call}",
    "if __name__ != '__main__':\n    pass\nelse:\n    {call}",
    "if __name__ == '__main__':\n    if True:\n        {call}",
    "if __name__ == '__main__':\n    try:\n        {call}\n    finally:\n        pass",
    "def main():\n    {call}\n\n\nif __name__ == '__main__':\n    main()",
    "async def main():\n    {call}\n\n\nif __name__ == '__main__':\n    import asyncio\n\n    asyncio.run(main())",
    "main = lambda: {call}\nif __name__ == '__main__':\n    main()",
    "{call}",
    "if __name__ == '__main__':\n    {call}\nelif is_nemo_gym_fastapi_entrypoint(__file__):\n    app = {call}  # noqa: F401",
    "if is_nemo_gym_fastapi_entrypoint(__file__):\n    app = {call}\nelif __name__ == '__main__':\n    {call}",
    "if __name__ == '__main__': {call}",
    "{call} if __name__ == '__main__' else None",
    "text = f'{{{call}}}'",
    "pass",
]


def indented(text: str, by: str) -> str:
    return "\n".join(by + line if line else line for line in text.split("\n"))


def random_class(chance: random.Random, name: str, bases: list[str], tab: str) -> str:
    # `indented` would move what stands inside a docstring: harmless, its text is no code.
    parts = [chance.choice(BODY_FORMS) for _ in range(chance.choice([1, 1, 1, 2]))]
    globals_last = sorted(parts, key=lambda part: not part.startswith("global"))
    body = (
        "\n".join(
            part.replace("{v}", chance.choice(VALUES))
            .replace("{w}", chance.choice(VALUES))
            .replace("{c}", chance.choice(CONDITIONS))
            for part in globals_last
        )
        .replace("{{", "{")
        .replace("}}", "}")
    )
    decorator = chance.choice(["", "", "", "", "@(lambda c: c)\n", "@same\n"])
    extra = chance.choice(["", "", "", "", "[T]"])
    keywords = chance.choice(["", "", "", "", ", metaclass=type(SimpleServer)"])
    header = f"class {name}{extra}({', '.join(bases)}{keywords}):"
    return decorator + header + "\n" + indented(body, tab) + "\n"


def random_case(chance: random.Random) -> dict[str, bytes]:
    tab = chance.choice(["    ", "    ", "    ", "  ", "\t"])
    names: list[str] = []
    blocks: list[str] = []
    for _ in range(chance.choice([1, 1, 2, 3, 4])):
        fresh = [n for n in ("Server", "Base", "Mixin", "Left", "Root", "Sérvér", "S测试") if n not in names]
        name = chance.choice(names) if names and chance.random() < 0.1 else chance.choice(fresh)
        earlier = [n for n in names if n != name]
        pool = [
            *earlier,
            *earlier,
            "SimpleResourcesServer",
            chance.choice(GYM_BASES),
            "Generic[T]",
            "ABC",
            "Far",
            "far.Deep",
        ]
        bases = [*dict.fromkeys(chance.choice(pool) for _ in range(chance.choice([1, 1, 2, 3])))]
        if not earlier and not any(b.startswith("Simple") for b in bases) and chance.random() < 0.8:
            bases.append("SimpleResourcesServer")
        block = random_class(chance, name, bases, tab)
        if chance.random() < 0.08:
            block = "if True:\n" + indented(block, tab)
        blocks.append(block)
        names.append(name)
    started = chance.choice(names)
    setting = chance.choice(
        [
            "",
            "",
            "",
            "",
            "",
            f"{started}.ray_enabled = True\n",
            f"setattr({started}, 'ray_enabled', False)\n",
            f"if True:\n    {started}.ray_enabled = True\n",
        ]
    )
    receiver = started
    if chance.random() < 0.15:
        setting += f"App = {started}\n"
        receiver = "App"
    elif chance.random() < 0.1:
        receiver = f"({started})"
    elif chance.random() < 0.08:
        receiver = "Far"
    call = f"{receiver}.run_webserver()"
    guard = chance.choice(GUARDS).replace("{call}", call).replace("{{", "{").replace("}}", "}")
    if tab == "\t":
        guard = guard.replace("    ", "\t")
    imports = (
        "import typing\nfrom abc import ABC\nfrom typing import Annotated, ClassVar, Final, Generic, TypeVar\n"
        f"{BASE_IMPORT}from nemo_gym.base_responses_api_agent import SimpleResponsesAPIAgent\n"
        "from nemo_gym.base_responses_api_model import SimpleResponsesAPIModel\n"
        "from nemo_gym.server_utils import SimpleServer, is_nemo_gym_fastapi_entrypoint\n"
    )
    far = chance.choice(
        [
            "from far import Far\nimport far\n",
            "from .far import Far\nfrom . import far\n",
            "import far\nfrom far import *\n",
        ]
    )
    text = (
        f"{imports}{far}\nT = TypeVar('T')\n\n\ndef same(c):\n    return c\n\n\n"
        + "\n\n".join([*blocks, setting + "\n" + guard])
        + "\n"
    )
    far_text = (
        f"{BASE_IMPORT}\n\nclass Root(SimpleResourcesServer):\n    ray_enabled = {chance.choice(['True', 'False'])}\n\n\n"
        f"class Far(Root):\n    {chance.choice(['pass', 'ray_enabled = True', 'ray_enabled = False'])}\n\n\nclass Deep(Far):\n    pass\n"
    )
    ending = chance.choice(["\n", "\n", "\n", "\r\n"])
    data = text.replace("\n", ending).encode()
    if chance.random() < 0.1:
        data = b"\xef\xbb\xbf" + data
    return {"app.py": data, "far.py": far_text.encode()}


GOOD = f'''{BASE_IMPORT}from other import Other


class Base(SimpleResourcesServer):
    """The base.

    ray_enabled = False
    """

    ray_enabled = False


@mark(ray_enabled=True)
class Server[T](Base, Other):
    emoji = "😀"; ray_enabled = True

    def verify(self, body: dict[str, int]) -> str:
        text = f"{{body['a']}} {{f'{{1}}'}}"
        return [text for _ in range(3)][0]


if __name__ == "__main__":
    Server.run_webserver()
'''
HALF_TYPED = [
    ("class Server(SimpleResourcesServer)\n", "class Server(SimpleResourcesServer):\n"),
    ("    ray_enabled =\n    x = True\n", "    ray_enabled = True\n"),
    ("    ray_enabled =\n    True\n", "    ray_enabled = True\n"),
    ("    ray_enabled = Tru\n", "    ray_enabled = True\n"),
    ("    ray_enabled = True.\n", "    ray_enabled = True\n"),
    ("    ray_enabled = True.\n    x = 1\n", "    ray_enabled = True\n"),
    ("    ray_enabled = True(\n", "    ray_enabled = True\n"),
    ("    ray_enabled = True if\n", "    ray_enabled = True\n"),
    ("    ray_enabled = not\n    True\n", "    ray_enabled = True\n"),
    ("    ray_enabled: bool = \n", "    ray_enabled = True\n"),
    ("    ray_enabled: = True\n", "    ray_enabled = True\n"),
    ("    ray_enabled == True\n    x =\n", "    ray_enabled = True\n"),
    ("    ray_enabled True\n", "    ray_enabled = True\n"),
    ("    ray_enabled = = True\n", "    ray_enabled = True\n"),
    ("    ray_enabled = [True\n", "    ray_enabled = True\n"),
    ("    ray_enabled = (True\n", "    ray_enabled = True\n"),
    ("    ray_enabled = True True\n", "    ray_enabled = True\n"),
    ("    ray_enabled = True or\n", "    ray_enabled = True\n"),
    ("    ray_enabled = 'True\n", "    ray_enabled = True\n"),
    ("    x = '''\n    ray_enabled = True\n", "    ray_enabled = True\n"),
    ("    x = (\n    ray_enabled = True\n", "    ray_enabled = True\n"),
    ("    def f(self:\n    ray_enabled = True\n", "    ray_enabled = True\n"),
    ("    def f(self)\n        pass\n    ray_enabled = True\n", "    ray_enabled = True\n"),
    ("    @\n    ray_enabled = True\n", "    ray_enabled = True\n"),
    ("    if x\n    ray_enabled = True\n", "    ray_enabled = True\n"),
    ("    if x:\n    ray_enabled = True\n", "    ray_enabled = True\n"),
    ("      ray_enabled = True\n    x = 1\n   y = 2\n", "    ray_enabled = True\n"),
    ("    pass\nray_enabled = True\n    x = 1\n", "    ray_enabled = True\n"),
]
PLAIN = f"{BASE_IMPORT}\n\nclass Server(SimpleResourcesServer):\n    ray_enabled = True\n\n\nif __name__ == '__main__':\n    Server.run_webserver()\n"
# Python refuses these, a tolerant grammar may not: the supervisor reads nothing from the whole file.
# Python refuses these, and our reader has to see it. What only the compiler refuses (the order of arguments and parameters,
# targets in deeper places, literals that do not go together) is left out: the reader does not look for it.
REFUSED = [
    "f() = 1",
    "None = 1",
    "True = 1",
    "x = 1 = 2",
    "x := 1",
    "print 1",
    "exec 'x'",
    "0777",
    "1__0",
    "a b",
    "lambda: (yield) = 1",
    "import a.b as",
    "from x import *, y",
    "from x import (a, b",
    "try:\n    pass",
    "else:\n    pass",
    "if x:\npass",
    "for x in : pass",
    "x = *a",
    "[x for x in]",
    "{**a for a in b}",
    "a ? b : c",
    "x++",
    "x <> y",
    "`x`",
    "async x = 1",
    "await = 1",
    "def f(x, x=): pass",
    "raise a, b",
    "'unclosed",
    '"""unclosed',
    "f'{'",
    "f'{a b}'",
    "f'{}'",
    "1 = x",
    "x + 1 = 2",
    "for 1 in x: pass",
    "  x = 1",
    "\tx = 1\n        y = 2",
    "return = 1",
    "class = 1",
    "def class(): pass",
    "if x = 1: pass",
    "x = (1, 2",
    "x = 1)",
    "global 1",
    "nonlocal f()",
    "assert x, ",
    "match x:\n    case 1 | y.z | :\n        pass",
    "match x:\npass",
    "\x00",
    "x = $1",
    "x = 5a",
    "def f():\n",
    "@\nx = 1",
    "from . import",
    "import",
    "from import x",
    "yield = 1",
    "x.1",
    "not x = 1",
    "__debug__ = 1",
    "a = yield = 1",
    "class C[T](T, *): pass",
    "type X",
    "try:\n    pass\nexcept:\n    pass\nexcept E:\n    pass",
    "*a = 1, 2 = b",
    "for x in *a, b c: pass",
]


def half_typed(chance: random.Random, count: int) -> list[dict[str, bytes]]:
    other = f"{BASE_IMPORT}\n\nclass Other(SimpleResourcesServer):\n    pass\n".encode()
    made = [{"app.py": PLAIN.replace(old, new).encode()} for new, old in HALF_TYPED]
    made += [
        {"app.py": PLAIN.replace("class Server", f"{broken}\n\n\nclass Server").encode()}
        for broken in [
            '"""',
            "'''",
            "x = (",
            "x = [1,",
            "def helper(a, b:\n    return a",
            "class Half(Simple",
            "x = {",
            "f'{",
            "if x",
            "@deco(",
            "def f(",
        ]
    ]
    made += [{"app.py": PLAIN.replace("class Server", f"{refused}\n\n\nclass Server").encode()} for refused in REFUSED]
    made += [
        {"app.py": PLAIN.replace("    Server.run_webserver()\n", f"    Server.run_webserver()\n{refused}\n").encode()}
        for refused in chance.sample(REFUSED, 12)
    ]
    cuts = chance.sample(range(40, len(GOOD)), min(count, len(GOOD) - 40))
    made += [{"app.py": GOOD[:cut].encode(), "other.py": other} for cut in sorted(cuts)]
    return made


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--count", type=int, default=200)
    arguments.add_argument("folder", type=Path)
    options = arguments.parse_args()
    chance = random.Random(options.seed)
    cases: dict[str, dict[str, bytes]] = {
        f"named/{name}": {file: text.encode() for file, text in files.items()} for name, files in NAMED.items()
    }
    cases |= {f"encoded/{name}": {"app.py": data} for name, data in ENCODED.items()}
    cases |= {f"random/r{index:03}": random_case(chance) for index in range(options.count)}
    cases |= {f"half/h{index:03}": files for index, files in enumerate(half_typed(chance, options.count // 2))}
    for name, files in cases.items():
        for file, data in files.items():
            path = options.folder / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


if __name__ == "__main__":
    main()
