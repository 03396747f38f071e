from nemo_gym.base_resources_server import AggregateMetricsMixin
from nemo_gym.server_utils import BaseServer, SimpleServer


class BaseResponsesAPIAgent(BaseServer):
    pass


class SimpleResponsesAPIAgent(BaseResponsesAPIAgent, AggregateMetricsMixin, SimpleServer):
    pass
