"""A resources server where Gym looks for it. Counting words needs no Ray: `ray_enabled = False`."""

from nemo_gym.base_resources_server import BaseVerifyRequest, BaseVerifyResponse, SimpleResourcesServer


class WordCountRequest(BaseVerifyRequest):
    words: int


class WordCountServer(SimpleResourcesServer):
    ray_enabled = False

    async def verify(self, body: WordCountRequest) -> BaseVerifyResponse:
        hit = len(body.response.output_text.split()) == body.words
        return BaseVerifyResponse(**body.model_dump(), reward=1.0 if hit else 0.0)


if __name__ == "__main__":
    WordCountServer.run_webserver()
