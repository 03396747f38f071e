"""As much of pydantic as a server file needs at the top of a module."""

from abc import ABCMeta


class ModelMetaclass(ABCMeta):
    """pydantic's metaclass derives from ABCMeta too: a mixin with `ABC` must not be a metaclass conflict."""


class BaseModel(metaclass=ModelMetaclass):
    pass


def Field(*args, **kwargs):
    return None


def ConfigDict(**kwargs):
    return kwargs
