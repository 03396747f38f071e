from typing import ClassVar

from pydantic import BaseModel

started: list[type] = []


class BaseServer(BaseModel):
    pass


class SimpleServer(BaseServer):
    ray_enabled: ClassVar[bool | None] = None

    @classmethod
    def run_webserver(cls, *args, **kwargs):
        started.append(cls)


def is_nemo_gym_fastapi_entrypoint(file: str) -> bool:
    return False
