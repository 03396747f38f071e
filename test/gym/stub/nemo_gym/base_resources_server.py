from pydantic import BaseModel

from nemo_gym.server_utils import BaseServer, SimpleServer


class BaseResourcesServerConfig(BaseModel):
    pass


class BaseVerifyRequest(BaseModel):
    pass


class BaseVerifyResponse(BaseVerifyRequest):
    pass


class BaseResourcesServer(BaseServer):
    pass


class AggregateMetricsMixin:
    pass


class SimpleResourcesServer(BaseResourcesServer, AggregateMetricsMixin, SimpleServer):
    pass
