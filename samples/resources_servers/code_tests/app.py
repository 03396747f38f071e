"""A resources server where Gym looks for it. It runs tests on a Ray cluster: `ray_enabled = True`."""

import subprocess
import sys

import ray
from nemo_gym.base_resources_server import BaseVerifyRequest, BaseVerifyResponse, SimpleResourcesServer


class CodeTestsRequest(BaseVerifyRequest):
    test: str


@ray.remote(runtime_env={"py_executable": sys.executable})
def passes(code: str, test: str) -> bool:
    """Whether the code and then the test run to their end within ten seconds."""
    try:
        return subprocess.run([sys.executable, "-c", f"{code}\n{test}"], timeout=10).returncode == 0
    except subprocess.TimeoutExpired:
        return False


class CodeTestsServer(SimpleResourcesServer):
    ray_enabled = True

    async def verify(self, body: CodeTestsRequest) -> BaseVerifyResponse:
        passed = await passes.remote(body.response.output_text, body.test)
        return BaseVerifyResponse(**body.model_dump(), reward=1.0 if passed else 0.0)


if __name__ == "__main__":
    CodeTestsServer.run_webserver()
