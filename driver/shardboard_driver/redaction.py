"""
Keeps the keys out of what is printed and told, also when somebody else's code would say it.

An endpoint may quote the key in an error, and the evaluator's client logs such an answer; what a process of the run
prints is in the job's log, which everybody who reaches the cluster can read.
"""

import copy
import logging

_keys: set[str] = set()


def hide(key: str) -> None:
    """From now on the key is in no result of `redact`, and in no log record that this process prints."""
    if key:
        _keys.add(key)
    if not logging.root.handlers:
        # What Python would print without any handler, but through a formatter that can be replaced.
        on_stderr = logging.StreamHandler()
        on_stderr.setLevel(logging.WARNING)
        logging.root.addHandler(on_stderr)
    for handler in logging.root.handlers:
        if not isinstance(handler.formatter, _Redacting):
            handler.setFormatter(_Redacting(handler.formatter or logging.Formatter()))


def redact(text: str) -> str:
    """The text without any key. To be called before a text is cut: half a key would not be found."""
    # The longest first: one key may be the beginning of another.
    for key in sorted(_keys, key=len, reverse=True):
        text = text.replace(key, "<key>")
    return text


class _Redacting(logging.Formatter):
    """Another formatter's text without the key, tracebacks included."""

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self._inner = inner

    def format(self, record: logging.LogRecord) -> str:
        redacted = copy.copy(record)
        if isinstance(record.args, tuple):
            # One by one, for a message may cut them.
            redacted.args = tuple(redact(each) if isinstance(each, str) else each for each in record.args)
        return redact(self._inner.format(redacted))
