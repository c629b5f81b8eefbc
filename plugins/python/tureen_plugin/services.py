"""The services that the host calls: Base, Strategy and Tools over one Plugin."""
from __future__ import annotations

import asyncio
import functools
import json
import sys
from typing import TYPE_CHECKING, Any

from . import wire  # sets the environment of gRPC
import grpc
from .host import Host, Session, invocation
from .shapes import Error, Failure, Input, Opening, Result, budget_from, error_to, node_from, opening_to, proposal_to
from .tools import Call, result_to

if TYPE_CHECKING:
    from .life import Life
    from .plugin import Plugin

PAGE = 512 << 10  # bytes of tools in one message
PROGRESS_LIMIT = 16_000  # characters of one text
PROGRESS_QUEUE = 100  # texts that may wait; more are dropped


class Services:
    """Answers the host. A request comes to the author once Initialize has been answered, and
    not any more once Drain has come. Each stream ends with exactly one terminal message."""

    def __init__(self, plugin: Plugin, life: Life):
        self.plugin, self.life = plugin, life
        self.phase = "fresh"  # starting, ready, draining
        self.running = 0
        self.idle = asyncio.Event()
        self.idle.set()

    def handlers(self) -> list:
        base = {"GetInfo": self.get_info, "Initialize": self.initialize, "OpenSession": self.begun(self.open_session),
                "CloseSession": self.close_session, "Drain": self.drain}
        found = [wire.handler("Base", base)]
        if "propose" in self.plugin.functions:
            found.append(wire.handler("Strategy", {"Open": self.begun(self.open), "Propose": self.begun(self.propose)}))
        if self.plugin.tools:
            found.append(wire.handler("Tools", {"ListTools": self.begun(self.list_tools), "CallTool": self.begun(self.call_tool)}))
        return found

    def begun(self, call):
        """Admits a request, and counts it until it ends."""
        @functools.wraps(call)
        async def admitted(request, context):
            if self.phase != "ready":
                why = "the plugin is draining" if self.phase == "draining" else "it comes before Initialize"
                await context.abort(grpc.StatusCode.FAILED_PRECONDITION, f"{call.__name__}: {why}")
            self.running += 1
            self.idle.clear()
            invocation.set(request.context.invocation_id)
            try:
                return await call(request, context)
            finally:
                self.running -= 1
                if not self.running:
                    self.idle.set()
        return admitted

    async def close(self) -> None:
        if self.plugin.host:
            await self.plugin.host.close()

    async def asked(self, what: str, *args) -> Any:
        """Calls the author's function of that name, where there is one."""
        function = self.plugin.functions.get(what)
        return await self.plugin.run(function, *args) if function else None

    # ------------------------------------------------------------------ Base

    async def get_info(self, request, context):
        p = self.plugin
        roles = ["ROLE_STRATEGY"] * ("propose" in p.functions) + ["ROLE_TOOLS"] * bool(p.tools)
        schema = json.dumps(p.config_schema).encode() if p.config_schema is not None else None
        return wire.make("GetInfoResponse", name=p.name, version=p.version, sdk="tureen_plugin, Python " + sys.version.split()[0],
                         roles=roles, capabilities=p.capabilities, config_schema=schema)

    async def initialize(self, request, context):
        if self.phase != "fresh":
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "Initialize is called once per process")
        self.phase = "starting"
        p = self.plugin
        p.config, p.secrets = json.loads(request.config or b"{}"), dict(request.secrets)
        p.granted = list(request.capabilities)
        p.notes_home, p.notes_project = request.notes_home, request.notes_project
        p.host = Host(request.host_address, request.token)
        try:
            line = await p.host.attach()
        except (Error, grpc.RpcError) as e:
            self.life.end()
            await context.abort(grpc.StatusCode.INTERNAL, f"the host does not answer: {e}")
        line.add_done_callback(lambda _: self.life.end())
        try:
            await self.asked("started")
        except Exception as e:
            return wire.make("InitializeResponse", error=error_to(p.error(e)))
        self.phase = "ready"
        return wire.make("InitializeResponse")

    async def open_session(self, request, context):
        session = self.plugin.sessions.setdefault(request.session.id, Session(self.plugin.host, request.session.id))
        session.told(request.session)
        try:
            await self.asked("opened", session)
        except Exception as e:
            return wire.make("OpenSessionResponse", error=error_to(self.plugin.error(e)))
        return wire.make("OpenSessionResponse")

    async def close_session(self, request, context):
        session = self.plugin.sessions.pop(request.session, None)
        try:
            if session:
                await self.asked("closed", session)
        except Exception as e:
            return wire.make("CloseSessionResponse", error=error_to(self.plugin.error(e)))
        return wire.make("CloseSessionResponse")

    async def drain(self, request, context):
        if self.phase == "ready":
            self.phase = "draining"
        try:
            await asyncio.wait_for(self.idle.wait(), request.deadline_ms / 1000)
        except asyncio.TimeoutError:
            return wire.make("DrainResponse", error=error_to(Error("requests are still under way")))
        return wire.make("DrainResponse")

    # -------------------------------------------------------------- Strategy

    async def open(self, request, context):
        session = self.plugin.session(request.session.id)
        session.told(request.session)
        try:
            opening = await self.asked("open", session) or Opening()
            return _fits("the opening", opening_to(opening))
        except Exception as e:
            return wire.make("OpenResponse", error=error_to(self.plugin.error(e)))

    async def propose(self, request, context):
        session = self.plugin.session(request.context.session)

        async def work(progress):
            nodes = [node_from(n) for n in request.outline]
            if request.outline_next:
                nodes += (await session.outline(request.revision, request.outline_next))[1]
            trigger = wire.trigger(request.trigger)
            proposal = await self.asked("propose", Input(
                session, request.revision, trigger, request.attempt, budget_from(request.budget), request.measured,
                request.source, request.turn_open, request.may_postpone, request.instructions, request.note, request.seed,
                request.time_unix_nano / 1e9, nodes, progress))
            sent = proposal_to(proposal, request.revision) if proposal else wire.make("Proposal", revision=request.revision)
            return _fits("the proposal", wire.make("ProposeResponse", proposal=sent)), ""
        await self._stream(context, "ProposeResponse", work)

    # ----------------------------------------------------------------- Tools

    async def list_tools(self, request, context):
        specs = [t.spec() for t in self.plugin.tools.values()]
        first = int(request.page) if request.page.isdecimal() else 0
        if request.page and not 0 < first < len(specs):
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"page {request.page!r} is none that was handed out")
        page, size = wire.make("ListToolsResponse"), 0
        for i, spec in enumerate(specs[first:], first):
            size += spec.ByteSize()
            if size > PAGE and page.tools:
                page.next_page = str(i)
                break
            page.tools.append(spec)
        return page

    async def call_tool(self, request, context):
        t = self.plugin.tools.get(request.name)
        if t is None:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"no tool {request.name!r} was listed")

        async def work(progress):
            session = self.plugin.session(request.context.session)
            call = Call(request.call_id, session, request.room, request.confinement, progress)
            try:
                result = await self.plugin.run(t.function, call, **json.loads(request.arguments or b"{}"))
            except Failure as e:
                result = Result("Error: " + e.message, is_error=True, code=e.code)
            except asyncio.CancelledError:
                call.cancelled = True
                raise
            sent, text = result_to(result), ""
            if len(sent.text) > wire.PIECE // 4:
                sent, text = result_to(result, ""), sent.text
            return _fits(f"the result of {t.name}", wire.make("CallToolResponse", result=sent)), text
        await self._stream(context, "CallToolResponse", work)

    async def _stream(self, context, kind: str, work) -> None:
        """Sends what work says on the way, then what it came to: a long text in pieces, and
        one terminal message."""
        texts: asyncio.Queue = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def put(text: str) -> None:
            if texts.qsize() < PROGRESS_QUEUE:
                texts.put_nowait(wire.clean(text)[:PROGRESS_LIMIT])

        def progress(text: str) -> None:
            loop.call_soon_threadsafe(put, text)

        async def send() -> None:
            while (text := await texts.get()) is not None:
                await context.write(wire.make(kind, progress=text))

        sender = asyncio.create_task(send())
        try:
            try:
                last, text = await work(progress)
            except Exception as e:
                last, text = wire.make(kind, error=error_to(self.plugin.error(e))), ""
            await asyncio.sleep(0)  # what a thread said last is in the queue by now
            texts.put_nowait(None)
            await sender
            for piece in wire.pieces(text):
                await context.write(wire.make(kind, text=piece))
            await context.write(last)
        finally:
            sender.cancel()


def _fits(what: str, message):
    """The message, where the wire can carry it."""
    if message.ByteSize() > wire.SEND_LIMIT:
        raise Error(f"{what} has {message.ByteSize()} bytes; one message holds at most {wire.SEND_LIMIT}: send less", "TOO_BIG")
    return message
