"""One Convex deployment inside this process: the interface that other packages use."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from starlette.types import ASGIApp

from convex_evals.backend.admin_keys import AdminKeys, new_secret
from convex_evals.backend.auth import JwtVerifier
from convex_evals.backend.clock import DeploymentClock
from convex_evals.backend.database import Database
from convex_evals.backend.deployed import Application, CurrentApplication
from convex_evals.backend.environment import CanonicalUrls
from convex_evals.backend.functions import (
    Call,
    CallOutcome,
    FunctionRunner,
    Host,
    HttpActionRunner,
    InlineQueries,
    MutationOutcome,
    QueryOutcome,
    Sdk,
    parse_path,
)
from convex_evals.backend.http import (
    PUBLIC_CONNECTIONS,
    Administration,
    DeployRoutes,
    EnvironmentRoutes,
    FunctionCalls,
    FunctionLogs,
    HttpActions,
    InlineQueryRoutes,
    SimulationRoutes,
    SiteApp,
    StorageRoutes,
    health_routes,
    main_app,
    sync_routes,
)
from convex_evals.backend.identity import ADMIN, Authenticator, Identity
from convex_evals.backend.logs import FunctionLog
from convex_evals.backend.push import Analyzer, Pusher, RememberedEvaluations, VariableUpdates, load_application
from convex_evals.backend.runtime import FunctionRuntime, Network, NetworkPolicy, OwnDeployment
from convex_evals.backend.scheduler import Scheduler
from convex_evals.backend.simulation import Cleaner, Simulation
from convex_evals.backend.storage import BlobStore, Files, UploadTokens
from convex_evals.backend.sync import History, SyncServer
from convex_evals.backend.system import SystemLibrary
from convex_evals.backend.values import Value, encode
from convex_evals.core.http import Access, AppServer, LoopbackServer, stop_signals

DEFAULT_NAME = "convex-evals-local"

Arguments = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class DeploymentSettings:
    """Ports 0 are ephemeral; without a `database` file nothing survives. `storage` is a folder for uploaded files, by
    default one beside the database."""

    port: int = 0
    site_port: int = 0
    database: Path | None = None
    storage: Path | None = None
    instance_name: str = DEFAULT_NAME
    instance_secret: str = field(default="", repr=False)  # random when empty
    accept_local_key: bool = False  # whether the well-known admin key opens it: for graders that know no other
    redact: bool = False
    network: NetworkPolicy = Network.LOOPBACK  # where functions may connect to, and auth providers be asked
    strict: bool = True  # refuse to run functions where the kernel cannot confine them completely
    origin: str = ""  # what functions are told instead of its own addresses, when not empty
    site_origin: str = ""
    allow_hosts: tuple[str, ...] = ()  # hosts that requests may name, beyond this machine's and the origins above
    allow_origins: tuple[str, ...] = ()  # origins of pages that may use it, beyond this machine's and the origins above
    simulation: bool = False  # whether administrators may move its clock and kill what runs: for graders
    sdk: Path | None = None  # the npm package `convex`; inline queries are refused without it
    node_modules: Path | None = None  # where `node.externalPackages` are found
    warm: bool = True  # False: a worker is started when it is needed, and trusted code is not evaluated twice

    @property
    def access(self) -> Access:
        """Raises InvalidAddress."""
        return Access.of((self.origin, self.site_origin), self.allow_hosts, self.allow_origins)

    @property
    def storage_folder(self) -> Path | None:
        beside = self.database and self.database.with_name(f"{self.database.name}.storage")
        return self.storage or beside


@dataclass(frozen=True, slots=True)
class PublicServers:
    """The two ports as functions see them."""

    main: AppServer
    site: AppServer

    @classmethod
    def of(cls, app: ASGIApp) -> "PublicServers":
        return cls(AppServer(app, PUBLIC_CONNECTIONS), AppServer(SiteApp(app), PUBLIC_CONNECTIONS))

    async def stop(self) -> None:
        await self.main.stop()
        await self.site.stop()


class Deployment:
    """Use `start` or `run`."""

    def __init__(
        self,
        settings: DeploymentSettings,
        database: Database,
        main: LoopbackServer,
        site: LoopbackServer,
        clock: DeploymentClock,
    ) -> None:
        self.database = database
        self.clock = clock
        self._main, self._site = main, site
        self._access = settings.access
        self._warming: asyncio.Task[None] | None = None
        self._public: PublicServers | None = None  # made when a function first calls
        self.url, self.site_url = main.origin, site.origin
        self.instance_name = settings.instance_name
        secret = settings.instance_secret or new_secret()
        keys = AdminKeys(settings.instance_name, secret, accept_local_key=settings.accept_local_key)
        self.admin_key = keys.issue()
        self.log = FunctionLog()
        own = OwnDeployment(main.port, site.port, self.serve_public)
        self.runtime = FunctionRuntime(network=settings.network, own=own, strict=settings.strict)
        if settings.node_modules is not None:
            self.runtime.provide_packages(settings.node_modules)
        self.current = CurrentApplication(load_application(self.database.begin()))
        tokens = JwtVerifier(self.current, network=settings.network, redact=settings.redact)
        self.authenticator = Authenticator(keys, tokens)
        self.host = Host(
            database=self.database,
            runtime=self.runtime,
            log=self.log,
            instance_name=settings.instance_name,
            urls=CanonicalUrls(settings.origin or self.url, settings.site_origin or self.site_url),
            redact=settings.redact,
            current=self.current,
            clock=clock,
        )
        self._blobs = BlobStore(settings.storage_folder)
        self.files = Files(self.database, self._blobs, UploadTokens(secret), self.host.urls)
        self.host.storage = self.files
        self.host.system_functions = SystemLibrary(self.host)
        self.functions = FunctionRunner(self.host)
        self.scheduler = Scheduler(self.functions)
        self.sync = SyncServer(self.functions, History(self.database), clock.now_ns)
        self.evaluations = None if settings.warm else RememberedEvaluations(self.runtime)
        analyzer = Analyzer(self.evaluations or self.runtime)
        self.inline_queries = InlineQueries(self.host, analyzer, Sdk(settings.sdk) if settings.sdk else None)
        self.pusher = Pusher(self.database, self.current, analyzer, self.host.urls, clock)
        self.variables = VariableUpdates(self.database, self.current, analyzer, self.host.urls)
        self.simulation: Simulation | None = None
        if settings.simulation:
            cleaner = Cleaner(self.functions, self.variables)
            self.simulation = Simulation(
                clock,
                self.functions,
                self.scheduler,
                self.runtime,
                self.sync,
                self.host.lockstep,
                self.host.turns.overlap,
                self.host.turns.gate,
                cleaner,
            )

    @classmethod
    @contextlib.asynccontextmanager
    async def start(
        cls,
        port: int = 0,
        site_port: int = 0,
        storage: Path | None = None,
        database: Path | None = None,
        instance_name: str = DEFAULT_NAME,
        instance_secret: str = "",
        redact: bool = False,
    ) -> AsyncIterator["Deployment"]:
        """A running deployment; it is stopped, and nothing of it left, when the block ends."""
        settings = DeploymentSettings(port, site_port, database, storage, instance_name, instance_secret, redact=redact)
        async with cls.run(settings) as deployment:
            yield deployment

    @classmethod
    @contextlib.asynccontextmanager
    async def run(cls, settings: DeploymentSettings) -> AsyncIterator["Deployment"]:
        async with contextlib.AsyncExitStack() as opened:
            clock = DeploymentClock()
            database = opened.enter_context(contextlib.closing(Database.open(settings.database, clock)))
            main = await opened.enter_async_context(LoopbackServer(settings.port))
            site = await opened.enter_async_context(LoopbackServer(settings.site_port))
            deployment = cls(settings, database, main, site, clock)
            opened.push_async_callback(deployment._stop)
            await deployment._start()
            yield deployment

    @property
    def application(self) -> Application | None:
        return self.current.application

    # ------------------------------------------------------------------ calls

    async def query(self, path: str, args: Arguments | None = None, *, identity: Identity = ADMIN) -> QueryOutcome:
        return await self.functions.query(_call(path, args, identity))

    async def mutation(
        self, path: str, args: Arguments | None = None, *, identity: Identity = ADMIN
    ) -> MutationOutcome:
        return await self.functions.mutation(_call(path, args, identity))

    async def action(self, path: str, args: Arguments | None = None, *, identity: Identity = ADMIN) -> CallOutcome:
        return await self.functions.action(_call(path, args, identity))

    async def serve_public(self, accepted: socket.socket, *, site: bool) -> None:
        """Serves a connection that comes from the functions: no key makes its caller an administrator.

        `site` says which of the two ports was called. Takes the socket over; returns at once.
        """
        if self._public is None:
            self._public = PublicServers.of(self._app(Authenticator(None, self.authenticator.tokens)))
        await (self._public.site if site else self._public.main).serve(accepted)

    # ------------------------------------------------------------------ life

    async def _start(self) -> None:
        if self.evaluations is None:
            self._warming = asyncio.create_task(self.runtime.start())  # only the first call waits for it
        else:
            self.runtime.prepare()
        if self.application is not None:
            self.runtime.load(self.application)
        self.current.on_change(self.runtime.load)
        self.current.on_change(lambda _: self.sync.on_new_code())
        app = self._app(self.authenticator)
        await self._main.start(app)
        await self._site.start(SiteApp(app))
        self.scheduler.start()

    def _app(self, authenticator: Authenticator) -> ASGIApp:
        return main_app(
            [
                *health_routes(self.instance_name),
                *FunctionCalls(self.functions, self.database, authenticator).routes(),
                *InlineQueryRoutes(self.inline_queries, authenticator).routes(),
                *FunctionLogs(self.log, authenticator).routes(),
                *Administration(self.database, authenticator).routes(),
                *DeployRoutes(self.pusher, authenticator).routes(),
                *EnvironmentRoutes(self.variables, self.host.urls, self.database, authenticator).routes(),
                *StorageRoutes(self.files, self.host).routes(),
                *HttpActions(HttpActionRunner(self.host, self.functions), authenticator).routes(),
                *sync_routes(self.sync, authenticator),
                *(SimulationRoutes(self.simulation, authenticator).routes() if self.simulation else ()),
            ],
            self._access,
        )

    async def _stop(self) -> None:
        self.host.is_closing = True
        self.log.close()
        await self.sync.stop()
        await self.scheduler.stop()
        await self._main.stop()
        await self._site.stop()
        if self._public is not None:
            await self._public.stop()
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.gather(self._warming, return_exceptions=True)
        await self.runtime.stop()
        self._blobs.close()


def _call(path: str, args: Arguments | None, identity: Identity) -> Call:
    return Call(parse_path(path), [encode(dict(args or {}))], identity=identity, caller="Tester")


async def run_backend_in_foreground(settings: DeploymentSettings, say: Callable[[str], None] = print) -> None:
    """Returns after SIGINT or SIGTERM, with everything stopped."""
    with stop_signals() as stopped:
        async with Deployment.run(settings) as deployment:
            say(f"Deployment {deployment.instance_name} is running at {deployment.url}")
            say(f"HTTP actions: {deployment.site_url}")
            say(f"Admin key:    {deployment.admin_key}")
            await stopped.wait()
