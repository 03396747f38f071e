from typing import Generic, TypeVar

from nemo_gym.server_utils import SimpleServer

EpisodeRequestT = TypeVar("EpisodeRequestT")
EpisodeResponseT = TypeVar("EpisodeResponseT")


class BaseEnvironmentServer(SimpleServer, Generic[EpisodeRequestT, EpisodeResponseT]):
    pass
