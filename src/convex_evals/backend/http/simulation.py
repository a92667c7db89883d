"""The routes of the simulation, for administrators of a deployment that allows it."""

from typing import TYPE_CHECKING, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from convex_evals.backend.errors import RequestError
from convex_evals.backend.http.bodies import json_response, read_json
from convex_evals.backend.http.clients import identify_admin
from convex_evals.backend.identity import Authenticator

if TYPE_CHECKING:
    from convex_evals.backend.simulation import Simulation

LONGEST_SECONDS: Final = 240.0
DEFAULT_SECONDS: Final = 15.0


class SimulationRoutes:
    def __init__(self, simulation: "Simulation", authenticator: Authenticator) -> None:
        self._simulation = simulation
        self._authenticator = authenticator

    def routes(self) -> list[Route]:
        return [
            Route("/api/simulation/clock", self._clock),
            Route("/api/simulation/advance_clock", self._advance, methods=["POST"]),
            Route("/api/simulation/stop_clock", self._stop_clock, methods=["POST"]),
            Route("/api/simulation/start_clock", self._start_clock, methods=["POST"]),
            Route("/api/simulation/clean", self._clean, methods=["POST"]),
            Route("/api/simulation/forget_results", self._forget_results, methods=["POST"]),
            Route("/api/simulation/kill_actions", self._kill_actions, methods=["POST"]),
            Route("/api/simulation/lockstep", self._lockstep, methods=["POST"]),
            Route("/api/simulation/overlap", self._overlap, methods=["POST"]),
            Route("/api/simulation/hold_commit", self._hold_commit, methods=["POST"]),
            Route("/api/simulation/held_commit", self._held_commit),
            Route("/api/simulation/release_commit", self._release_commit, methods=["POST"]),
            Route("/api/simulation/restart", self._restart, methods=["POST"]),
        ]

    async def _clock(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        return json_response({"now": self._simulation.clock.now_ms()})

    async def _advance(self, request: Request) -> Response:
        """`isSettled`: whether all that became due has ended within `seconds`."""
        await identify_admin(self._authenticator, request)
        fields = await read_json(request)
        milliseconds, seconds = fields.optional_number("ms"), fields.optional_number("seconds")
        if milliseconds is None or milliseconds < 0:
            raise RequestError(400, "BadJsonBody", "ms must be a number of milliseconds, at least 0")
        allowed = min(DEFAULT_SECONDS if seconds is None else seconds, LONGEST_SECONDS)
        hanging = int(fields.optional_number("hanging") or 0)
        is_settled = await self._simulation.advance(round(milliseconds * 1e6), allowed, hanging)
        return json_response({"now": self._simulation.clock.now_ms(), "isSettled": is_settled})

    async def _stop_clock(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        self._simulation.stop_clock()
        return json_response(None)

    async def _start_clock(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        self._simulation.start_clock()
        return json_response(None)

    async def _clean(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        await self._simulation.clean()
        return json_response(None)

    async def _forget_results(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        self._simulation.forget_results()
        return json_response(None)

    async def _kill_actions(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        return json_response({"killed": self._simulation.kill_actions()})

    async def _lockstep(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        fields = await read_json(request)
        size, seconds = fields.optional_number("actions"), fields.optional_number("seconds")
        self._simulation.lockstep.expect(int(size or 0), seconds)
        return json_response(None)

    async def _overlap(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        fields = await read_json(request)
        mutations, seconds = fields.optional_number("mutations"), fields.optional_number("seconds")
        self._simulation.overlap.expect(int(mutations or 0), seconds)
        return json_response(None)

    async def _hold_commit(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        fields = await read_json(request)
        self._simulation.gate.close(fields.optional_number("seconds"))
        return json_response(None)

    async def _held_commit(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        return json_response({"isHeld": self._simulation.gate.is_holding})

    async def _release_commit(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        self._simulation.gate.open()
        return json_response(None)

    async def _restart(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        await self._simulation.restart()
        return json_response(None)
