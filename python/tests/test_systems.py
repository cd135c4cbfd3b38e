"""Features that need Linux, on other systems."""

import pytest

from ecnlab import probing
from ecnlab.base.errors import EcnlabError
from ecnlab.cli.linux import linux
from ecnlab.runs.engine_by_name import answerer_of


@pytest.fixture(params=["win32", "darwin"])
def system(monkeypatch, request):
    monkeypatch.setattr("sys.platform", request.param)
    return request.param


@pytest.mark.parametrize(
    ("engine", "feature"),
    [("linux", "the Linux kernel in virtual time"), ("linux-wall", "the wall-clock router")],
)
def test_an_engine_that_needs_linux(system, engine, feature):
    with pytest.raises(EcnlabError) as raised:
        answerer_of(engine)
    assert str(raised.value) == f"{feature} needs Linux; this system is {system}: use the engine `packets`"


def test_a_probe_of_a_real_server(system):
    with pytest.raises(
        EcnlabError, match=f"^a probe of a real server needs Linux; this system is {system}: probe a scenario$"
    ):
        probing.probe_host("192.0.2.1", 80)


def test_the_build_of_the_kernel(system):
    with pytest.raises(EcnlabError, match=f"^the build of the kernel needs Linux; this system is {system}$"):
        linux.main(["build"], standalone_mode=False)
