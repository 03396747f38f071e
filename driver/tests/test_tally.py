import shutil
from pathlib import Path

from shardboard_driver.answers import AnswerLog, shard_folder
from shardboard_driver.tally import Tally

from .support import FINGERPRINT, make_request
from .test_answers import row


def test_answers_that_are_there_and_answers_that_are_kept(tmp_path: Path) -> None:
    for shard in range(2):
        with AnswerLog(shard_folder(tmp_path, shard), FINGERPRINT) as log:
            log.append(row(shard))
    tally = Tally(make_request(tmp_path, shards=3), expected=3, done={0: [row(0)]})
    assert (tally.answered(), tally.kept()) == (2, 2)
    shutil.rmtree(tmp_path / "shards")
    assert (tally.answered(), tally.kept()) == (1, 0)
