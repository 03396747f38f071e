# ruff: noqa: E501, RUF001
"""The traps that somebody thought of, each by its name: files of one folder, read from `app.py`."""

from __future__ import annotations

BASE_IMPORT = "from nemo_gym.base_resources_server import SimpleResourcesServer\n"
GUARD = "\n\nif __name__ == '__main__':\n    {}.run_webserver()\n"
START = GUARD.format("Server")
ON = f"{BASE_IMPORT}\n\nclass Base(SimpleResourcesServer):\n    ray_enabled = True\n"
OFF = ON.replace("True", "False")
PLAIN = f"{BASE_IMPORT}\n\nclass Server(SimpleResourcesServer):\n    ray_enabled = True\n{START}"


def server(head: str, bases: str, body: str = "pass", tail: str = START) -> str:
    return f"{head}\n\nclass Server({bases}):\n    {body}\n{tail}"


def gym(head: str, bases: str, body: str = "pass", tail: str = START) -> str:
    return server(BASE_IMPORT + head, bases, body, tail)


NAMED: dict[str, dict[str, str]] = {
    # Imports
    "relative": {"app.py": server("from .base import Base\n", "Base"), "base.py": ON},
    "relative_module": {"app.py": server("from . import base\n", "base.Base"), "base.py": ON},
    "absolute_module": {"app.py": server("import base\n", "base.Base"), "base.py": ON},
    "import_as": {"app.py": server("import base as b\n", "b.Base"), "base.py": ON},
    "dotted_import": {
        "app.py": server("import pack.base\n", "pack.base.Base"),
        "pack/__init__.py": "",
        "pack/base.py": ON,
    },
    "dotted_import_as": {
        "app.py": server("import pack.base as b\n", "b.Base"),
        "pack/__init__.py": "",
        "pack/base.py": ON,
    },
    "namespace_package": {"app.py": server("from pack.base import Base\n", "Base"), "pack/base.py": ON},
    "re_export": {
        "app.py": server("from pack import Base\n", "Base"),
        "pack/__init__.py": "from .base import Base\n",
        "pack/base.py": ON,
    },
    "re_export_as": {
        "app.py": server("from pack import Renamed\n", "Renamed"),
        "pack/__init__.py": "from .base import Base as Renamed\n",
        "pack/base.py": ON,
    },
    "re_export_twice": {
        "app.py": server("from pack import Base\n", "Base"),
        "pack/__init__.py": "from .middle import Base\n",
        "pack/middle.py": "from .base import Base\n",
        "pack/base.py": OFF,
    },
    "submodule_of_package": {
        "app.py": server("from pack import base\n", "base.Base"),
        "pack/__init__.py": "",
        "pack/base.py": ON,
    },
    "attribute_hides_submodule": {
        "app.py": server("from pack import base\n", "base.Base"),
        "pack/__init__.py": "from . import other as base\n",
        "pack/base.py": ON,
        "pack/other.py": OFF,
    },
    "star": {"app.py": server("from base import *\n", "Base"), "base.py": ON},
    "star_all": {"app.py": server("from base import *\n", "Base"), "base.py": f"__all__ = ['Base']\n{ON}"},
    "star_all_without": {
        "app.py": server(f"{OFF}\n\nfrom base import *\n", "Base"),
        "base.py": f"__all__ = ['other']\nother = 1\n{ON}",
    },
    "star_all_added": {
        "app.py": server("from base import *\n", "Base"),
        "base.py": f"__all__ = []\n{ON}\n\n__all__ += ['Base']\n",
    },
    "star_private": {
        "app.py": server(f"{OFF.replace('Base', '_Base')}\n\nfrom base import *\n", "_Base"),
        "base.py": ON.replace("Base", "_Base"),
    },
    "star_private_in_all": {
        "app.py": server(f"{OFF.replace('Base', '_Base')}\n\nfrom base import *\n", "_Base"),
        "base.py": "__all__ = ['_Base']\n" + ON.replace("Base", "_Base"),
    },
    "star_of_star": {
        "app.py": server("from pack import *\n", "Base"),
        "pack/__init__.py": "from .base import *\n",
        "pack/base.py": ON,
    },
    "star_overwrites": {"app.py": server(f"{OFF}\n\nfrom base import *\n", "Base"), "base.py": ON},
    "star_overwritten": {"app.py": server(f"from base import *\n{OFF}", "Base"), "base.py": ON},
    "two_stars": {"app.py": server("from one import *\nfrom two import *\n", "Base"), "one.py": ON, "two.py": OFF},
    "star_reexports_gym": {"app.py": server("from base import *\n", "SimpleResourcesServer"), "base.py": ON},
    "import_twice": {
        "app.py": server("from one import Base\nfrom two import Base\n", "Base"),
        "one.py": ON,
        "two.py": OFF,
    },
    "import_then_class": {"app.py": server(f"from one import Base\n{OFF}", "Base"), "one.py": ON},
    "cycle": {"app.py": server("from base import Base\n", "Base"), "base.py": f"import app\n{ON}"},
    "cycle_of_stars": {
        "app.py": server("from one import *\n", "Base"),
        "one.py": f"from two import *\n{ON}",
        "two.py": "from one import *\n",
    },
    "cycle_of_names": {
        "app.py": server("from one import Base\n", "Base"),
        "one.py": "from two import Base\n",
        "two.py": "from one import Base\n",
    },
    "missing": {"app.py": server("from missing import Base\n", "Base")},
    "missing_beside_value": {"app.py": server("from missing import Base\n", "Base", "ray_enabled = False")},
    "missing_second": {"app.py": gym("from missing import Mixin\n", "SimpleResourcesServer, Mixin")},
    "missing_first": {"app.py": gym("from missing import Mixin\n", "Mixin, SimpleResourcesServer")},
    "missing_after_value": {"app.py": server(f"{ON}from missing import Mixin\n", "Base, Mixin")},
    "missing_before_value": {"app.py": server(f"{ON}from missing import Mixin\n", "Mixin, Base")},
    "missing_name": {"app.py": server("from base import Nothing\n", "Nothing"), "base.py": ON},
    "missing_star": {"app.py": server("from missing import *\n", "Base")},
    "try_import": {
        "app.py": server("try:\n    from fast import Base\nexcept ImportError:\n    from slow import Base\n", "Base"),
        "slow.py": ON,
    },
    "try_import_there": {
        "app.py": server("try:\n    from fast import Base\nexcept ImportError:\n    from slow import Base\n", "Base"),
        "fast.py": OFF,
        "slow.py": ON,
    },
    "try_import_same": {
        "app.py": server("try:\n    from .base import Base\nexcept ImportError:\n    from base import Base\n", "Base"),
        "base.py": ON,
    },
    "type_checking": {
        "app.py": server(
            f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from one import Base\n{OFF}", "Base"
        ),
        "one.py": ON,
    },
    "other_file_broken": {"app.py": server("from base import Base\n", "Base"), "base.py": "class Base(:\n"},
    "grandparent_far": {
        "app.py": server("from one import Middle\n", "Middle"),
        "one.py": "from two import Base\n\n\nclass Middle(Base):\n    pass\n",
        "two.py": ON,
    },
    "far_alias": {"app.py": server("from one import Alias\n", "Alias"), "one.py": f"{ON}\n\nAlias = Base\n"},
    "far_outer": {
        "app.py": server("from one import Outer\n", "Outer.Base"),
        "one.py": "class Outer:\n" + "\n".join("    " + line for line in ON.splitlines()),
    },
    "far_diamond": {
        "app.py": server("from one import Left, Right\n", "Left, Right"),
        "one.py": f"{OFF}\n\nclass Left(Base):\n    pass\n\n\nclass Right(Base):\n    ray_enabled = True\n",
    },
    "far_set_outside": {
        "app.py": server("from one import Base\n", "Base"),
        "one.py": f"{ON}\n\nBase.ray_enabled = False\n",
    },
    "far_conditional": {
        "app.py": server("from one import Base\n", "Base"),
        "one.py": "import os\n" + ON.replace("    ray_enabled", "    if os.sep:\n        ray_enabled"),
    },
    "far_deleted": {"app.py": server("from one import Base\n", "Base"), "one.py": f"{ON}    del ray_enabled\n"},
    "far_same_name": {
        "app.py": "import base\n\n\nclass Base(base.Base):\n    pass\n" + GUARD.format("Base"),
        "base.py": ON,
    },
    "import_in_function": {
        "app.py": "def main():\n    from base import Base\n\n    Base.run_webserver()\n\n\nif __name__ == '__main__':\n    main()\n",
        "base.py": ON,
    },
    "import_in_main": {
        "app.py": "if __name__ == '__main__':\n    from base import Base\n\n    Base.run_webserver()\n",
        "base.py": ON,
    },
    "import_in_class_body": {
        "app.py": gym("", "SimpleResourcesServer", "from base import Base as ray_enabled"),
        "base.py": ON,
    },
    "module_started": {"app.py": "import base\n" + GUARD.format("base.Base"), "base.py": ON},
    "imported_star_started": {"app.py": "from base import *\n" + GUARD.format("Base"), "base.py": OFF},
    "imported_two_unknown": {
        "app.py": f"from missing import A\n{OFF}\n\nif __name__ == '__main__':\n    A.run_webserver() if 1 else Base.run_webserver()\n"
    },
    "module_getattr": {
        "app.py": server("from base import Base\n", "Base"),
        "base.py": "def __getattr__(name):\n    raise AttributeError(name)\n\n\n" + ON,
    },
    "package_init_class": {"app.py": server("from pack import Base\n", "Base"), "pack/__init__.py": ON},
    "parent_package": {
        "app.py": "",
        "pack/__init__.py": "",
        "base.py": ON,
        "pack/app.py": server("from ..base import Base\n", "Base"),
    },
    "stdlib_shadowed": {"app.py": server("from queue_base import Base\n", "Base"), "queue_base.py": ON},
    "del_import": {"app.py": server(f"from one import Base\ndel Base\n{OFF}", "Base"), "one.py": ON},
    # Bases
    "base_defined_twice_around": {
        "app.py": server(
            ON, "Base", "pass", f"\n\nclass Base(SimpleResourcesServer):\n    ray_enabled = False\n{START}"
        )
    },
    "base_alias": {"app.py": server(f"{ON}\n\nAlias = Base\n", "Alias")},
    "base_alias_rebound": {"app.py": server(f"{ON}\n\nAlias = Base\nAlias = SimpleResourcesServer\n", "Alias")},
    "base_alias_of_alias": {"app.py": server(f"{ON}\n\nA = Base\nB = A\n", "B")},
    "base_alias_conditional": {"app.py": server(f"{ON}\n\nA = Base if __debug__ else object\n", "A")},
    "base_annotated_alias": {"app.py": server(f"{ON}\n\nA: type = Base\n", "A")},
    "base_chained_alias": {"app.py": server(f"{ON}\n\nA = B = Base\n", "B")},
    "base_tuple_alias": {"app.py": server(f"{ON}\n\nA, B = SimpleResourcesServer, Base\n", "B")},
    "base_call": {"app.py": server(f"{ON}\n\ndef make():\n    return Base\n", "make()")},
    "base_type_call": {"app.py": server(f"{ON}\n\nA = type('A', (Base,), dict(ray_enabled=False))\n", "A")},
    "base_starred": {"app.py": server(f"{ON}\n\nbases = (Base,)\n", "*bases")},
    "base_walrus": {"app.py": gym("", "(B := SimpleResourcesServer)")},
    "base_parenthesised": {"app.py": server(ON, "(Base)")},
    "base_conditional_expression": {"app.py": server(ON, "Base if __debug__ else object")},
    "base_subscript_twice": {
        "app.py": server(
            "from typing import Generic, TypeVar\nT = TypeVar('T')\n"
            + ON.replace("(SimpleResourcesServer)", "(SimpleResourcesServer, Generic[T])"),
            "Base[int]",
        )
    },
    "base_generic_new": {"app.py": server(ON.replace("class Base", "class Base[T]"), "Base[int]")},
    "base_keyword_metaclass": {"app.py": server(ON, "Base, metaclass=type(Base)")},
    "base_keyword_flag": {
        "app.py": gym(
            "\n\nclass Base(SimpleResourcesServer):\n    def __init_subclass__(cls, **k):\n        pass\n",
            "Base, ray_enabled=True",
        )
    },
    "base_in_function": {
        "app.py": f"{BASE_IMPORT}\n\ndef make():\n    class Base(SimpleResourcesServer):\n        ray_enabled = True\n    class Server(Base):\n        pass\n    return Server\n\n\nServer = make()\n{START}"
    },
    "base_nested": {
        "app.py": server(
            f"{BASE_IMPORT}\n\nclass Outer:\n    class Base(SimpleResourcesServer):\n        ray_enabled = True\n",
            "Outer.Base",
        )
    },
    "base_nested_sibling": {
        "app.py": f"{BASE_IMPORT}\n\nclass Outer:\n    class Base(SimpleResourcesServer):\n        ray_enabled = True\n\n    class Server(Base):\n        pass\n{GUARD.format('Outer.Server')}"
    },
    "base_nested_hides": {
        "app.py": f"{OFF}\n\nclass Outer:\n    class Base(SimpleResourcesServer):\n        ray_enabled = True\n\n    class Server(Base):\n        pass\n{GUARD.format('Outer.Server')}"
    },
    "base_nested_not_seen_in_function": {
        "app.py": f"{OFF}\n\nclass Outer:\n    class Base(SimpleResourcesServer):\n        ray_enabled = True\n\n    def make(self=None):\n        class Server(Base):\n            pass\n        return Server\n\n\nServer = Outer.make()\n{START}"
    },
    "base_of_itself": {"app.py": server(ON.replace("Base", "Server"), "Server")},
    "base_in_if": {
        "app.py": server(
            f"{BASE_IMPORT}\n\nif __debug__:\n    class Base(SimpleResourcesServer):\n        ray_enabled = True\nelse:\n    class Base(SimpleResourcesServer):\n        ray_enabled = False\n",
            "Base",
        )
    },
    "mixin_first": {"app.py": gym("\n\nclass Mixin:\n    ray_enabled = True\n", "Mixin, SimpleResourcesServer")},
    "mixin_last": {"app.py": gym("\n\nclass Mixin:\n    ray_enabled = True\n", "SimpleResourcesServer, Mixin")},
    "mixin_undeclared": {"app.py": gym("\n\nclass Mixin:\n    pass\n", "Mixin, SimpleResourcesServer")},
    "abc_first": {"app.py": gym("from abc import ABC\n", "ABC, SimpleResourcesServer")},
    "protocol_mixin": {
        "app.py": gym("from typing import Protocol\n\n\nclass Mixin:\n    pass\n", "Mixin, SimpleResourcesServer")
    },
    "enum_beside": {
        "app.py": gym(
            "from enum import Enum\n\n\nclass Mode(str, Enum):\n    A = 'a'\n\n\nclass Request(BaseVerifyRequest):\n    x: int = 1\n",
            "SimpleResourcesServer",
        ).replace("import SimpleResourcesServer", "import BaseVerifyRequest, SimpleResourcesServer")
    },
    "config_beside": {
        "app.py": gym(
            "from pydantic import BaseModel\n\n\nclass Config(BaseModel):\n    pass\n\n\nclass Plain:\n    pass\n",
            "SimpleResourcesServer",
            "ray_enabled = True",
        )
    },
    "two_bases_order": {
        "app.py": server(f"{ON}\n\nclass Second(SimpleResourcesServer):\n    ray_enabled = False\n", "Second, Base")
    },
    "diamond_gym_between": {
        "app.py": server(
            f"{BASE_IMPORT}\n\nclass Left(SimpleResourcesServer):\n    pass\n\n\nclass Right(SimpleResourcesServer):\n    ray_enabled = True\n",
            "Left, Right",
        )
    },
    "none_hides": {"app.py": server(f"{ON}\n\nclass Middle(Base):\n    ray_enabled = None\n", "Middle")},
    "non_literal_inherited": {"app.py": server(ON.replace("True", "bool(1)"), "Base")},
    "deleted_inherits": {"app.py": server(OFF, "Base", "ray_enabled = True\n    del ray_enabled")},
    "impossible_mro": {"app.py": server(f"{ON}\n\nclass Middle(Base):\n    ray_enabled = False\n", "Base, Middle")},
    "field_inherited": {"app.py": server(ON.replace("ray_enabled =", "ray_enabled: bool ="), "Base")},
    "outside_on_base": {"app.py": server(f"{ON}\n\nBase.ray_enabled = False\n", "Base")},
    "outside_on_base_after": {"app.py": server(ON, "Base", "pass", f"\n\nBase.ray_enabled = False\n{START}")},
    "outside_in_main": {"app.py": PLAIN.replace("    Server.run", "    Server.ray_enabled = False\n    Server.run")},
    "outside_in_function": {
        "app.py": PLAIN.replace("\n\nif __name__", "\n\ndef later():\n    Server.ray_enabled = False\n\n\nif __name__")
    },
    "outside_twice": {
        "app.py": PLAIN.replace(
            "\n\nif __name__", "\n\nServer.ray_enabled = False\nServer.ray_enabled = True\n\n\nif __name__"
        )
    },
    "outside_deleted": {"app.py": PLAIN.replace("\n\nif __name__", "\n\ndel Server.ray_enabled\n\n\nif __name__")},
    "outside_alias": {
        "app.py": PLAIN.replace("\n\nif __name__", "\n\nApp = Server\nApp.ray_enabled = False\n\n\nif __name__")
    },
    "outside_other_attribute": {
        "app.py": PLAIN.replace("\n\nif __name__", "\n\nServer.config.ray_enabled = False\n\n\nif __name__").replace(
            "    ray_enabled = True", "    class config:\n        pass\n    ray_enabled = True"
        )
    },
    "outside_first_class_of_two": {
        "app.py": f"{ON.replace('Base', 'Server')}\n\nServer.ray_enabled = False\n\n\nclass Server(SimpleResourcesServer):\n    ray_enabled = True\n{START}"
    },
    "setattr_computed_name": {
        "app.py": PLAIN.replace("\n\nif __name__", "\n\nsetattr(Server, 'ray_' + 'enabled', False)\n\n\nif __name__")
    },
    # Starting
    "start_twice_defined": {
        "app.py": PLAIN.replace("\n\nif", "\n\nclass Server(SimpleResourcesServer):\n    ray_enabled = False\n\n\nif")
    },
    "start_second_in_if": {
        "app.py": PLAIN.replace(
            "\n\nif",
            "\n\nif not __debug__:\n    class Server(SimpleResourcesServer):\n        ray_enabled = False\n\n\nif",
        )
    },
    "start_in_if": {
        "app.py": f"{BASE_IMPORT}\n\nif True:\n    class Server(SimpleResourcesServer):\n        ray_enabled = True\n{START}"
    },
    "start_nested": {
        "app.py": f"{BASE_IMPORT}\n\nclass Outer:\n    class Inner(SimpleResourcesServer):\n        ray_enabled = True\n{GUARD.format('Outer.Inner')}"
    },
    "start_alias_chain": {
        "app.py": PLAIN.replace("\n\nif", "\n\nA = Server\nB = A\n\n\nif").replace("    Server.run", "    B.run")
    },
    "start_alias_rebound": {
        "app.py": f"{ON}\n\nclass Off(SimpleResourcesServer):\n    ray_enabled = False\n\n\nApp = Base\nApp = Off\n{GUARD.format('App')}"
    },
    "start_alias_named_as_class": {
        "app.py": f"{ON}\n\nclass Off(SimpleResourcesServer):\n    ray_enabled = False\n\n\nBase = Off\n{GUARD.format('Base')}"
    },
    "start_name_is_import_after": {"app.py": f"{ON}\nfrom off import Base\n{GUARD.format('Base')}", "off.py": OFF},
    "start_getattr": {"app.py": PLAIN.replace("Server.run_webserver()", "getattr(Server, 'run_webserver')()")},
    "start_bound_method": {"app.py": PLAIN.replace("Server.run_webserver()", "run = Server.run_webserver\n    run()")},
    "start_call_result": {"app.py": PLAIN.replace("Server.run_webserver()", "(lambda: Server)().run_webserver()")},
    "start_subscript": {"app.py": PLAIN.replace("Server.run_webserver()", "{'a': Server}['a'].run_webserver()")},
    "start_parenthesised": {"app.py": PLAIN.replace("Server.run_webserver()", "(Server).run_webserver()")},
    "start_parenthesised_more": {"app.py": PLAIN.replace("Server.run_webserver()", "((Server) . run_webserver) ( )")},
    "start_split_lines": {
        "app.py": PLAIN.replace("Server.run_webserver()", "(Server\n        .run_webserver\n        ())")
    },
    "start_walrus": {"app.py": PLAIN.replace("Server.run_webserver()", "(S := Server).run_webserver()")},
    "start_await": {"app.py": PLAIN.replace("Server.run_webserver()", "(lambda: Server.run_webserver())()")},
    "start_in_class": {
        "app.py": PLAIN.replace(
            "if __name__ == '__main__':\n    Server.run_webserver()",
            "class Runner:\n    def go():\n        Server.run_webserver()\n\n\nif __name__ == '__main__':\n    Runner.go()",
        )
    },
    "start_in_class_body": {
        "app.py": PLAIN.replace(
            "if __name__ == '__main__':\n    Server.run_webserver()", "class Runner:\n    Server.run_webserver()"
        )
    },
    "start_in_own_method": {
        "app.py": gym(
            "",
            "SimpleResourcesServer",
            "ray_enabled = True\n\n    @classmethod\n    def go(cls):\n        cls.run_webserver()",
            GUARD.format("Server").replace("run_webserver", "go"),
        )
    },
    "start_super": {
        "app.py": gym(
            "",
            "SimpleResourcesServer",
            "ray_enabled = True\n\n    @classmethod\n    def run_webserver(cls):\n        super().run_webserver()",
        )
    },
    "start_local_hides": {
        "app.py": f"{ON}\n\nclass Off(SimpleResourcesServer):\n    ray_enabled = False\n\n\ndef main():\n    Base = Off\n    Base.run_webserver()\n\n\nif __name__ == '__main__':\n    main()\n"
    },
    "start_parameter": {
        "app.py": f"{ON}\n\ndef main(which):\n    which.run_webserver()\n\n\nif __name__ == '__main__':\n    main(Base)\n"
    },
    "start_loop": {
        "app.py": f"{ON}\n\nif __name__ == '__main__':\n    for each in (Base,):\n        each.run_webserver()\n"
    },
    "start_not_main_other": {
        "app.py": f"{ON}\n\nclass Server(SimpleResourcesServer):\n    ray_enabled = False\n\n\nif __name__ != '__main__':\n    Base.run_webserver()\nelse:\n    Server.run_webserver()\n"
    },
    "start_fastapi_only": {
        "app.py": PLAIN.replace("__name__ == '__main__'", "is_nemo_gym_fastapi_entrypoint(__file__)").replace(
            "\n\nclass", "from nemo_gym.server_utils import is_nemo_gym_fastapi_entrypoint\n\n\nclass", 1
        )
    },
    "start_fastapi_other_class": {
        "app.py": f"from nemo_gym.server_utils import is_nemo_gym_fastapi_entrypoint\n{ON}\n\nclass Server(SimpleResourcesServer):\n    ray_enabled = False\n\n\nif __name__ == '__main__':\n    Server.run_webserver()\nelif is_nemo_gym_fastapi_entrypoint(__file__):\n    app = Base.run_webserver()\n"
    },
    "start_guard_and": {"app.py": PLAIN.replace("'__main__':", "'__main__' and True:")},
    "start_guard_match": {
        "app.py": PLAIN.replace(
            "if __name__ == '__main__':\n    Server.run_webserver()",
            "match __name__:\n    case '__main__':\n        Server.run_webserver()",
        )
    },
    "start_and": {"app.py": PLAIN.replace("if __name__ == '__main__':\n    ", "__name__ == '__main__' and ")},
    "start_comprehension": {
        "app.py": PLAIN.replace("    Server.run_webserver()", "    [Server.run_webserver() for _ in range(1)]")
    },
    "start_fstring": {"app.py": PLAIN.replace("    Server.run_webserver()", '    print(f"{Server.run_webserver()}")')},
    "start_fstring_same_quotes": {
        "app.py": PLAIN.replace("    Server.run_webserver()", "    print(f'{Server.run_webserver() or \"x\"} {'a'}')")
    },
    "start_decorator": {
        "app.py": PLAIN.replace(
            "    Server.run_webserver()", "    @(lambda f: Server.run_webserver())\n    def x():\n        pass"
        )
    },
    "start_default_argument": {
        "app.py": PLAIN.replace("    Server.run_webserver()", "    def x(a=Server.run_webserver()):\n        pass")
    },
    "start_annotation_string": {
        "app.py": PLAIN.replace("    Server.run_webserver()", "    x: 'Server.run_webserver()' = 1")
    },
    "start_docstring": {"app.py": PLAIN.replace("    Server.run_webserver()", "    '''Server.run_webserver()'''")},
    "start_not_called": {"app.py": PLAIN.replace("Server.run_webserver()", "Server.run_webserver")},
    "start_with_arguments": {"app.py": PLAIN.replace("run_webserver()", "run_webserver(*[], **{})")},
    "start_two_undeclared": {
        "app.py": f"{OFF}\n\nclass Server(SimpleResourcesServer):\n    pass\n\n\nif __name__ == '__main__':\n    Base.run_webserver()\n    Server.run_webserver()\n"
    },
    "start_two_on_unknown": {
        "app.py": f"from missing import X\n{ON}\n\nif __name__ == '__main__':\n    X.run_webserver()\n    Base.run_webserver()\n"
    },
    "start_wide_letters": {
        "app.py": PLAIN.replace("    Server.run_webserver()", "    Ｓｅｒｖｅｒ.ｒｕｎ_webserver()")
    },
    "start_ligature": {"app.py": PLAIN.replace("Server", "Eﬃcient", 1).replace("Server.run", "Efficient.run")},
    "start_bold_class": {"app.py": PLAIN.replace("class Server", "class 𝐒erver")},
    "start_emoji_before": {
        "app.py": PLAIN.replace("    Server.run_webserver()", "    x = '😀'; Server.run_webserver()")
    },
    "start_lookalike_not_nfkc": {"app.py": PLAIN.replace("    ray_enabled", "    rаy_enabled")},
    "start_main_wide": {"app.py": PLAIN.replace("__name__", "__ｎame__")},
    "start_main_string_wide": {"app.py": PLAIN.replace("'__main__'", "'__ｍain__'")},
    "start_nested_function": {
        "app.py": PLAIN.replace(
            "if __name__ == '__main__':\n    Server.run_webserver()",
            "def a():\n    def b():\n        Server.run_webserver()\n    b()\n\n\na()",
        )
    },
    "start_after_return": {
        "app.py": PLAIN.replace(
            "if __name__ == '__main__':\n    Server.run_webserver()",
            "def a():\n    return\n    Server.run_webserver()\n\n\na()",
        )
    },
    "start_global_rebinds": {
        "app.py": f"{ON}\n\nclass Server(SimpleResourcesServer):\n    ray_enabled = False\n\n\ndef swap():\n    global Server\n    Server = Base\n\n\nswap()\n{START}"
    },
    "start_del_class": {
        "app.py": f"{ON.replace('Base', 'Server')}\n\nOther = Server\ndel Server\n{GUARD.format('Other')}"
    },
    "start_lower_before_class": {
        "app.py": f"{BASE_IMPORT}\n\ndef main():\n    Server.run_webserver()\n\n\nclass Server(SimpleResourcesServer):\n    ray_enabled = True\n\n\nmain()\n"
    },
    # Layout
    "tabs_and_spaces": {"app.py": PLAIN.replace("    ray_enabled = True", "\tx = 1\n\tray_enabled = True")},
    "form_feed": {
        "app.py": PLAIN.replace("class Server", "\x0cclass Server").replace("    ray_enabled", "\x0c    ray_enabled")
    },
    "carriage_returns": {"app.py": PLAIN.replace("\n", "\r")},
    "mixed_ends": {
        "app.py": "".join(
            line + end
            for line, end in zip(
                PLAIN.split("\n"), ["\r\n", "\n", "\r\n", "\n", "\n", "\r\n", "\r\n", "\n", "\n", "\n"]
            )
        )
    },
    "mixed_with_lone_cr": {"app.py": PLAIN.replace("\n\n\nclass", "\r\n\r\rclass")},
    "vertical_tab_in_string": {
        "app.py": PLAIN.replace("    ray_enabled", "    x = 'a\x0bb\x1c\x85\u2028c'; y = 1\n    ray_enabled")
    },
    "line_separator_in_comment": {"app.py": PLAIN.replace("class Server", "# a\u2028b\u2029c\x85d\nclass Server")},
    "no_last_newline": {"app.py": PLAIN.rstrip("\n")},
    "blank_lines_with_blanks": {"app.py": PLAIN.replace("\n\n\nclass", "\n   \n\t\nclass")},
    "comment_dedent": {
        "app.py": PLAIN.replace("    ray_enabled = True", "    x = 1\n# left\n  # odd\n    ray_enabled = True")
    },
    "backslash_class": {"app.py": PLAIN.replace("class Server(", "class \\\n  Server \\\n (")},
    "backslash_dot": {"app.py": PLAIN.replace("Server.run_webserver()", "Server. \\\n  run_webserver \\\n ()")},
    "semicolon_line": {"app.py": PLAIN.replace("    ray_enabled = True", "    x = 1; ray_enabled = True;")},
    "one_line_class": {"app.py": PLAIN.replace(":\n    ray_enabled = True", ": x = '😀'; ray_enabled = True")},
    "one_line_everything": {
        "app.py": f"{BASE_IMPORT}class Server(SimpleResourcesServer): ray_enabled = True\nif __name__ == '__main__': Server.run_webserver()\n"
    },
    "astral_class_name": {
        "app.py": PLAIN.replace("Server", "𐌰𐌱𐌲")
        .replace("Simple𐌰", "SimpleResourcesS")
        .replace("Resources𐌰𐌱𐌲", "ResourcesServer")
        .replace("SimpleResourcesS𐌱𐌲", "SimpleResourcesServer")
    },
    "emoji_docstring": {"app.py": PLAIN.replace("    ray_enabled = True", '    """😀😀"""; ray_enabled = True')},
    "deep_parentheses": {"app.py": PLAIN.replace("= True", "= " + "(" * 60 + "True" + ")" * 60)},
    "deep_blocks": {
        "app.py": PLAIN.replace(
            "\n\nif", "\n\n" + "".join(" " * depth + "if True:\n" for depth in range(60)) + " " * 60 + "x = 1\n\n\nif"
        )
    },
    "long_chain": {"app.py": PLAIN.replace("\n\nif", "\n\nx = 1" + " + 1" * 800 + "\n\n\nif")},
    "docstring_code": {
        "app.py": PLAIN.replace(
            "    ray_enabled = True",
            "    '''\n    class Other(SimpleResourcesServer):\n        ray_enabled = False\n    '''\n    ray_enabled = True",
        )
    },
    "comment_code": {"app.py": f"# class Ghost(SimpleResourcesServer):\n#     ray_enabled = True\n{PLAIN}"},
    "match_soft_keywords": {
        "app.py": PLAIN.replace(
            "    ray_enabled", "    match = 1\n    case = 2\n    type = 3\n    _ = match\n    ray_enabled"
        )
    },
    "type_alias": {"app.py": PLAIN.replace("\n\nif", "\n\ntype X[T] = list[T]\n\n\nif")},
    "new_generics": {"app.py": PLAIN.replace("class Server(", "class Server[T: (int, str), *Ts, **P](")},
    "fstring_nested": {
        "app.py": PLAIN.replace(
            "    ray_enabled",
            "    x = 1\n    y = f'{f'{f'{x!r:>{x}}'}'}' f\"{x:{'>'}3}\" f'{{ray_enabled = False}}'\n    ray_enabled",
        )
    },
    "fstring_multiline": {
        "app.py": PLAIN.replace(
            "    ray_enabled", "    y = f'''{\n        1  # ray_enabled = False\n    }'''\n    ray_enabled"
        )
    },
    "raw_string": {
        "app.py": PLAIN.replace(
            "    ray_enabled", '    y = r\'\\\'\n    z = rb"\\""\n    ray_enabled'.replace("r'\\'", "r'\\\\'")
        )
    },
    "async_comprehension": {
        "app.py": PLAIN.replace(
            "\n\nif",
            "\n\nasync def f(a):\n    async with a as b, a as c:\n        return [x async for x in a if await x]\n\n\nif",
        )
    },
    "except_star": {
        "app.py": PLAIN.replace("\n\nif", "\n\ntry:\n    pass\nexcept* (ValueError, TypeError) as e:\n    pass\n\n\nif")
    },
    "parenthesised_with": {
        "app.py": PLAIN.replace("\n\nif", "\n\ndef f(a):\n    with (a as b, a as c,):\n        pass\n\n\nif")
    },
    "positional_only": {"app.py": PLAIN.replace("\n\nif", "\n\ndef f(a, /, b, *, c, **d) -> 'x': ...\n\n\nif")},
    "star_index": {
        "app.py": PLAIN.replace(
            "\n\nif", "\n\ndef f(a, b: tuple[*tuple[int]]):\n    return a[*b], {**a, 'x': 1}, [*b]\n\n\nif"
        )
    },
    "print_name": {"app.py": PLAIN.replace("\n\nif", "\n\nprint\nexec\nprint(1), exec\n\n\nif")},
    "numbers": {"app.py": PLAIN.replace("\n\nif", "\n\nx = 0xFF_FF, 0b1, 0o7, 1_000.5e-3j, .5, 1., 00\n\n\nif")},
    "return_at_top": {"app.py": PLAIN + "if not __debug__:\n    x = lambda: (yield)\n"},
    "decorator_expression": {
        "app.py": PLAIN.replace("class Server", "@[lambda c: c][0]\n@(lambda: (lambda c: c))()\nclass Server")
    },
    "decorator_sets": {
        "app.py": PLAIN.replace(
            "\n\nclass Server", "\n\ndef off(c):\n    c.ray_enabled = False\n    return c\n\n\n@off\nclass Server"
        )
    },
    "decorator_replaces": {
        "app.py": f"{ON}\n\n@lambda c: Base\nclass Server(SimpleResourcesServer):\n    ray_enabled = False\n{START}"
    },
    "exec_in_body": {"app.py": PLAIN.replace("ray_enabled = True", "exec('ray_enabled = True')")},
    "locals_in_body": {"app.py": PLAIN.replace("ray_enabled = True", "locals()['ray_enabled'] = True")},
    "slots": {"app.py": PLAIN.replace("    ray_enabled", "    __slots__ = ()\n    ray_enabled")},
    "if_true_body": {"app.py": PLAIN.replace("    ray_enabled = True", "    if True:\n        ray_enabled = True")},
    "if_delete": {
        "app.py": PLAIN.replace(
            "    ray_enabled = True", "    ray_enabled = True\n    if True:\n        del ray_enabled"
        )
    },
    "except_name": {
        "app.py": PLAIN.replace(
            "    ray_enabled = True",
            "    try:\n        1 / 0\n    except ZeroDivisionError as ray_enabled:\n        pass",
        )
    },
    "with_name": {
        "app.py": PLAIN.replace("    ray_enabled = True", "    with open(__file__, 'rb') as ray_enabled:\n        pass")
    },
    "star_target": {"app.py": PLAIN.replace("    ray_enabled = True", "    *ray_enabled, x = True, False")},
    "nested_tuple_target": {
        "app.py": PLAIN.replace("    ray_enabled = True", "    (x, (ray_enabled, y)) = 1, (True, 2)")
    },
    "chained_tuple": {"app.py": PLAIN.replace("    ray_enabled = True", "    ray_enabled = (x, y) = True, False")},
    "subscript_of_flag": {
        "app.py": PLAIN.replace("    ray_enabled = True", "    ray_enabled = {}\n    ray_enabled['x'] = True")
    },
    "attribute_of_flag": {
        "app.py": PLAIN.replace(
            "    ray_enabled = True", "    class ray_enabled:\n        pass\n    ray_enabled.x = True"
        )
    },
    "walrus_in_condition": {
        "app.py": PLAIN.replace("    ray_enabled = True", "    if (ray_enabled := True):\n        pass")
    },
    "walrus_in_lambda": {"app.py": PLAIN.replace("    ray_enabled = True", "    f = lambda: (ray_enabled := True)")},
    "walrus_in_decorator": {
        "app.py": PLAIN.replace(
            "    ray_enabled = True", "    @(ray_enabled := staticmethod)\n    def f():\n        pass"
        )
    },
    "flag_is_method_decorator": {
        "app.py": PLAIN.replace(
            "    ray_enabled = True",
            "    ray_enabled = True\n    @property\n    def ray_enabled(self):\n        return False",
        )
    },
    "flag_is_type_alias": {"app.py": PLAIN.replace("    ray_enabled = True", "    type ray_enabled = bool")},
    "flag_import_from": {"app.py": PLAIN.replace("    ray_enabled = True", "    from os import sep as ray_enabled")},
    "flag_import_dotted": {"app.py": PLAIN.replace("    ray_enabled = True", "    import os.path as ray_enabled")},
    "flag_global_in_method": {
        "app.py": PLAIN.replace(
            "    ray_enabled = True",
            "    ray_enabled = True\n\n    def f(self):\n        global ray_enabled\n        ray_enabled = False",
        )
    },
    "flag_global_after_other": {
        "app.py": PLAIN.replace("    ray_enabled = True", "    global other, ray_enabled\n    ray_enabled = True")
    },
    "flag_nonlocal": {
        "app.py": f"{BASE_IMPORT}\n\ndef make():\n    ray_enabled = None\n\n    class Server(SimpleResourcesServer):\n        nonlocal ray_enabled\n        ray_enabled = True\n    return Server\n\n\nServer = make()\n{START}"
    },
    "flag_in_module": {
        "app.py": f"ray_enabled = True\n{PLAIN.replace('ray_enabled = True', 'ray_enabled = ray_enabled')}"
    },
    "flag_annotated_then_assigned": {
        "app.py": PLAIN.replace("    ray_enabled = True", "    ray_enabled: bool\n    ray_enabled = True")
    },
    "flag_annotated_in_if": {
        "app.py": PLAIN.replace("    ray_enabled = True", "    if True:\n        ray_enabled: bool = True")
    },
    "flag_bare_in_if": {"app.py": PLAIN.replace("    ray_enabled = True", "    if True:\n        ray_enabled: bool")},
    "flag_for_else": {
        "app.py": PLAIN.replace(
            "    ray_enabled = True", "    for x in ():\n        pass\n    else:\n        ray_enabled = True"
        )
    },
    "flag_try_finally": {
        "app.py": PLAIN.replace(
            "    ray_enabled = True", "    try:\n        pass\n    finally:\n        ray_enabled = True"
        )
    },
    "flag_semicolon_after_docstring": {
        "app.py": PLAIN.replace("    ray_enabled = True", "    'doc'; ray_enabled = True; 'x'")
    },
    "flag_true_with_dot": {"app.py": PLAIN.replace("= True", "= True.real")},
    "flag_tuple_of_one": {"app.py": PLAIN.replace("= True", "= True,")},
    "flag_wide_true": {"app.py": PLAIN.replace("= True", "= Ｔrue")},
    "flag_lower_true": {"app.py": f"true = True\n{PLAIN.replace('= True', '= true')}"},
    "flag_ellipsis": {"app.py": PLAIN.replace("= True", "= ...")},
    "flag_negative": {"app.py": PLAIN.replace("= True", "= -True")},
    "flag_yield_lambda": {"app.py": PLAIN.replace("= True", "= (lambda: True)()")},
    "many_classes": {
        "app.py": BASE_IMPORT
        + "".join(
            f"\n\nclass S{i}({'SimpleResourcesServer' if i == 0 else f'S{i - 1}'}):\n    {'ray_enabled = ' + str(i % 3 == 0) if i % 7 == 0 else 'pass'}\n"
            for i in range(60)
        )
        + GUARD.format("S59")
    },
}

ENCODED: dict[str, bytes] = {
    "latin_1": f"# -*- coding: latin-1 -*-\n# é\n{PLAIN.replace('    ray_enabled', '    é = 1; ray_enabled')}".encode(
        "latin-1"
    ),
    "cp1252": f"# coding: cp1252\n{PLAIN.replace('    ray_enabled', '    x = "€"; ray_enabled')}".encode("cp1252"),
    "cp1252_identifier": f"# coding: cp1252\n{PLAIN.replace('    ray_enabled', '    Žž = 1; ray_enabled')}".encode(
        "cp1252"
    ),
    "latin_1_control": b"# coding: latin-1\n"
    + PLAIN.replace("    ray_enabled", "    \x8e = 1; ray_enabled").encode("latin-1"),
    "utf_8_sig": f"# coding: utf-8-sig\n{PLAIN}".encode(),
    "utf_8_sig_bom": b"\xef\xbb\xbf" + f"# coding: utf-8-sig\n{PLAIN}".encode(),
    "utf_8_bom_cookie": b"\xef\xbb\xbf" + f"# coding: utf-8\n{PLAIN}".encode(),
    "latin_1_bom": b"\xef\xbb\xbf" + f"# coding: latin-1\n{PLAIN}".encode(),
    "shift_jis": f"# coding: shift_jis\n{PLAIN.replace('    ray_enabled', '    x = "日本語ソ表"; ray_enabled')}".encode(
        "shift_jis"
    ),
    "euc_kr": f"#!/usr/bin/env python\n# vim: set fileencoding=euc_kr :\n{PLAIN.replace('    ray_enabled', '    x = "한국어"; ray_enabled')}".encode(
        "euc_kr"
    ),
    "koi8_r": f"# coding=koi8-r\n{PLAIN.replace('Server', 'Сервер').replace('ResourcesСервер', 'ResourcesServer')}".encode(
        "koi8-r"
    ),
    "iso_8859_15": f"# coding: iso-8859-15\n{PLAIN.replace('    ray_enabled', '    x = "€"; ray_enabled')}".encode(
        "iso-8859-15"
    ),
    "gbk": f"# coding: gbk\n{PLAIN.replace('    ray_enabled', '    x = "中文"; ray_enabled')}".encode("gbk"),
    "unknown_cookie": f"# coding: klingon\n{PLAIN}".encode(),
    "cookie_third_line": f"\n\n# coding: latin-1\n# é\n{PLAIN}".encode("latin-1"),
    "cookie_second_after_code": f"x = 1\n# coding: latin-1\n# é\n{PLAIN}".encode("latin-1"),
    "cookie_in_string": f"'coding: latin-1'\n# é\n{PLAIN}".encode("latin-1"),
    "latin_1_no_cookie": f"# é\n{PLAIN}".encode("latin-1"),
    "latin_1_no_cookie_late": f"{PLAIN}# é\n".encode("latin-1"),
    "wrong_ascii": f"# coding: ascii\n# é\n{PLAIN}".encode(),
    "wrong_latin_1": f"# coding: latin-1\n{PLAIN.replace('    ray_enabled', '    x = "é😀"; ray_enabled')}".encode(),
    "wrong_shift_jis": f"# coding: shift_jis\n# é\n{PLAIN}".encode("latin-1"),
    "utf_16": PLAIN.encode("utf-16"),
    "cookie_upper": f"# CODING: latin-1\n# é\n{PLAIN}".encode("latin-1"),
    "cookie_underscore": f"# coding: LATIN_1\n# é\n{PLAIN}".encode("latin-1"),
    "nul_byte": PLAIN.encode() + b"\x00",
    "control_z": PLAIN.encode() + b"\x1a",
    "surrogate": PLAIN.encode() + b"# \xed\xa0\x80\n",
}
