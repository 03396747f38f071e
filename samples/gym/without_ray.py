"""A resources server that needs no cluster: it says so with `ray_enabled = False`."""

from nemo_gym.base_resources_server import BaseVerifyRequest, BaseVerifyResponse, SimpleResourcesServer


class PolitenessServer(SimpleResourcesServer):
    ray_enabled = False

    async def verify(self, body: BaseVerifyRequest) -> BaseVerifyResponse:
        polite = "please" in body.response.output_text.lower()
        return BaseVerifyResponse(**body.model_dump(), reward=1.0 if polite else 0.0)


if __name__ == "__main__":
    PolitenessServer.run_webserver()
