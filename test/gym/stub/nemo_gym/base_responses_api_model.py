from nemo_gym.server_utils import BaseServer, SimpleServer


class BaseResponsesAPIModel(BaseServer):
    pass


class SimpleResponsesAPIModel(BaseResponsesAPIModel, SimpleServer):
    pass
