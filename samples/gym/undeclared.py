"""A resources server that does not say whether it needs Ray. NeMo Gym 0.7 starts a cluster for it and warns; later
versions will not start one. The lens above the class shows it.
"""

from nemo_gym.base_resources_server import BaseVerifyRequest, BaseVerifyResponse, SimpleResourcesServer


class LengthServer(SimpleResourcesServer):
    async def verify(self, body: BaseVerifyRequest) -> BaseVerifyResponse:
        words = len(body.response.output_text.split())
        return BaseVerifyResponse(**body.model_dump(), reward=1.0 if words <= 100 else 0.0)


if __name__ == "__main__":
    LengthServer.run_webserver()
