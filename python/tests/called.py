"""The command line, called in the process of the tests."""

from __future__ import annotations

import pytest

from ecnlab.cli import main


def called(capsys, monkeypatch, *arguments):
    """The command line in this process: its exit code, standard output and standard error."""
    monkeypatch.setattr("signal.signal", lambda *_: None)  # the process is the test runner's
    monkeypatch.delenv("COLUMNS", raising=False)  # of the test runner's terminal
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return ended.value.code, out, err
