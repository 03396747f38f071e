import json
import socket
import threading

import pytest

from shardboard_driver import endpoint_check
from shardboard_driver.endpoint_check import check_endpoint
from shardboard_driver.failure import RunFailure
from shardboard_driver.redaction import hide

from .model_server import Behaviour, Reply, completion, dead_endpoint, serve

KEY = "sk-very-secret"


def failure(behaviour: Behaviour, key: str | None = KEY) -> str:
    with serve(behaviour) as model, pytest.raises(RunFailure) as caught:
        check_endpoint(model.url, "test", key)
    assert caught.value.reason == "endpoint"
    assert KEY not in caught.value.message
    assert "No question was asked." in caught.value.message
    return caught.value.message


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint_check, "PAUSES_S", (0.0, 0.0))


@pytest.fixture(autouse=True)
def read_key() -> None:
    hide(KEY)


@pytest.mark.parametrize("path", ["", "/", "/chat/completions"])
def test_an_endpoint_that_answers_is_asked_once(path: str) -> None:
    with serve(lambda _prompt, _times: completion("ready")) as model:
        check_endpoint(model.url + path, "test", KEY)
        assert len(model.requests) == 1
        assert model.authorization == {f"Bearer {KEY}"}


def test_without_a_key_no_header_is_sent() -> None:
    with serve(lambda _prompt, _times: completion("ready")) as model:
        check_endpoint(model.url, "test", None)
        assert model.authorization == {None}


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key(status: int) -> None:
    quoting = Reply(status, {"error": {"message": f"Incorrect API key: {KEY}"}})
    assert f"refused the key (HTTP {status})" in failure(lambda _prompt, _times: quoting)
    assert "wants a key" in failure(lambda _prompt, _times: quoting, key=None)


def test_an_unknown_model() -> None:
    reply = Reply(404, {"error": {"message": f"The model `test` does not exist for {KEY}."}})
    message = failure(lambda _prompt, _times: reply)
    assert "does not know the model test" in message
    assert "does not exist" in message


def test_a_page_instead_of_an_answer() -> None:
    assert "not with a chat completion" in failure(lambda _prompt, _times: Reply(200, "<html>Welcome</html>"))
    assert "not with a chat completion" in failure(lambda _prompt, _times: Reply(200, {"choices": []}))


def test_a_server_that_fails_once_is_asked_again() -> None:
    with serve(lambda _prompt, times: completion("ready") if times else Reply(500, "oops")) as model:
        check_endpoint(model.url, "test", KEY)
        assert len(model.requests) == 2


def test_a_server_that_keeps_failing() -> None:
    assert "failed (HTTP 500)" in failure(lambda _prompt, _times: Reply(500, "oops"))


def test_a_busy_server_is_left_to_the_evaluator() -> None:
    with serve(lambda _prompt, _times: Reply(429, {"error": "slow down"})) as model:
        check_endpoint(model.url, "test", KEY)


def test_a_model_that_refuses_max_tokens_is_asked_as_the_benchmark_will() -> None:
    with serve(lambda _prompt, times: completion("ready") if times else Reply(400, {"error": "max_tokens"})) as model:
        check_endpoint(model.url, "test", KEY)
        assert "max_tokens" not in model.requests[1]


def test_a_key_that_the_server_says_is_not_told_in_part_either() -> None:
    reply = Reply(400, {"error": {"message": "x" * 195 + KEY}})
    assert "sk-" not in failure(lambda _prompt, _times: reply)


def test_a_refused_question_says_why() -> None:
    reply = Reply(400, {"error": {"message": "temperature must be 1"}})
    assert "temperature must be 1" in failure(lambda _prompt, _times: reply)


def test_nobody_there() -> None:
    with dead_endpoint() as url, pytest.raises(RunFailure, match="connection refused"):
        check_endpoint(url, "test", KEY)


def test_an_unknown_host() -> None:
    with pytest.raises(RunFailure, match="not known"):
        check_endpoint("http://host.invalid/v1", "test", KEY)


def test_a_server_that_says_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        with pytest.raises(RunFailure, match="did not answer within"):
            check_endpoint(url, "test", KEY, timeout=0.05)


def test_something_that_does_not_speak_http() -> None:
    def speak() -> None:
        connection, _ = server.accept()
        connection.sendall(b"SSH-2.0-OpenSSH\r\n")
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as server:
        speaking = threading.Thread(target=speak)
        speaking.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        with pytest.raises(RunFailure, match="could not be reached"):
            check_endpoint(url, "test", KEY)
        speaking.join()


def test_the_question_is_what_the_evaluator_would_send() -> None:
    with serve(lambda _prompt, _times: completion("ready")) as model:
        check_endpoint(model.url, "my-model", None)
        assert model.requests[0]["model"] == "my-model"
        assert model.requests[0]["temperature"] == 0.0
        json.dumps(model.requests[0]["messages"])
