import signal

import pytest

from convex_evals.runner.stop import Stop, signal_handlers


async def test_asking_once_stops_new_work_and_asking_again_stops_all_work() -> None:
    told: list[str] = []
    stop = Stop(on_request=lambda: told.append("once"))
    assert (stop.requested, stop.now.is_set()) == (False, False)
    stop.request()
    assert (stop.requested, stop.now.is_set()) == (True, False)
    stop.request()
    assert (stop.requested, stop.now.is_set()) == (True, True)
    assert told == ["once"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_signals_of_the_system_stop_all_work(number: signal.Signals) -> None:
    stop = Stop()
    with signal_handlers(stop):
        signal.raise_signal(number)
        await stop.now.wait()


async def test_afterwards_signals_mean_what_they_meant_before() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with signal_handlers(Stop()):
        pass
    assert signal.getsignal(signal.SIGTERM) == before
