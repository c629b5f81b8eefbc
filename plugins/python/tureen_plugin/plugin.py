"""What an author uses: a Plugin, its strategy and its tools as decorated functions."""
from __future__ import annotations

import asyncio
import functools
import inspect
import json
import re
import sys
import traceback
from collections.abc import Callable
from typing import Any

from .host import Host, Session
from .life import Life, check_started_by_host
from .services import Services
from .shapes import Error
from .tools import Tool, schema_of

CAPABILITIES = ("session.read", "session.steer", "session.spawn", "user.ask", "model.generate", "records.write")


class Plugin:
    """A plugin: describe it, decorate its functions, then serve(). What it says of itself
    must be the same each time. config_schema is a JSON Schema; the config that
    reaches the plugin as .config fits it. Functions may be coroutines, which may ask
    the host, or plain ones, which run in a thread of their own."""

    def __init__(self, name: str, version: str, capabilities: list[str] = [], config_schema: dict | None = None):
        if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,63}", name) or not version:
            raise ValueError(f"plugin {name!r} needs a version, and a name of small letters, digits, - and _")
        if unknown := set(capabilities) - set(CAPABILITIES):
            raise ValueError(f"plugin {name!r} wants {sorted(unknown)}; there are: {', '.join(CAPABILITIES)}")
        self.name, self.version, self.capabilities, self.config_schema = name, version, list(capabilities), config_schema
        self.config: dict[str, Any] = {}
        self.secrets: dict[str, str] = {}  # never to be logged
        self.granted: list[str] = []
        self.notes_home = ""  # absolute
        self.notes_project = ""  # what the user calls the project that notes belong to, "" = find out
        self.sessions: dict[str, Session] = {}  # those that are open
        self.tools: dict[str, Tool] = {}
        self.functions: dict[str, Callable] = {}
        self.host: Host | None = None

    def _keep(self, what: str, function: Callable) -> Callable:
        if what in self.functions:
            raise ValueError(f"plugin {self.name!r} has two functions for {what}")
        self.functions[what] = function
        return function

    def started(self, function: Callable) -> Callable:
        """def f(): called once, when config and secrets are there. An Error ends the start."""
        return self._keep("started", function)

    def opened(self, function: Callable) -> Callable:
        """def f(session): called for each session, and again when what is known of it changed."""
        return self._keep("opened", function)

    def closed(self, function: Callable) -> Callable:
        """def f(session): called once the session is not served any more."""
        return self._keep("closed", function)

    def open(self, function: Callable) -> Callable:
        """def f(session) -> Opening: what the strategy shows from the start of a window."""
        return self._keep("open", function)

    def propose(self, function: Callable) -> Callable:
        """def f(input) -> Proposal | None: what to take off the surface; None = nothing to do.
        It makes the plugin a strategy."""
        return self._keep("propose", function)

    def tool(self, description: str, *, name: str = "", schema: dict | None = None, parallel: bool = False, timeout: float = 0,
             no_spill: bool = False, guidance: str = "", guidance_order: int = 0) -> Callable:
        """def f(call, argument: type, ...) -> str | Result: a tool, named as the function. Its
        schema is made from the parameters unless one is handed over; arguments fit it when
        the call comes. parallel calls may run side by side; timeout is in seconds, 0 = the
        host's. A Failure is what the model may put right, any other exception is not."""
        def keep(function: Callable) -> Callable:
            t = Tool(name or function.__name__, description, function, schema or schema_of(function), parallel, timeout, no_spill,
                     guidance, guidance_order)
            if t.name in self.tools:
                raise ValueError(f"plugin {self.name!r} has two tools {t.name!r}")
            self.tools[t.name] = t
            return function
        return keep

    def session(self, id: str) -> Session:
        """The session of that id; one that is not open can be asked for, but lends nothing."""
        return self.sessions.get(id) or Session(self.host, id)

    async def run(self, function: Callable, *args, **kwargs) -> Any:
        """Calls an author's function; whatever goes wrong in it is an Error or a Failure of
        its own, or becomes an Error with the traceback as detail, which is logged too."""
        if inspect.iscoroutinefunction(function):
            return await function(*args, **kwargs)
        return await asyncio.to_thread(functools.partial(function, *args, **kwargs))

    def error(self, e: Exception) -> Error:
        """The Error that an exception of an author's function is told as."""
        if isinstance(e, Error):
            return e
        detail = "".join(traceback.format_exception(e))
        print(json.dumps({"level": "error", "msg": f"{type(e).__name__}: {e}", "trace": detail[-8000:]}), file=sys.stderr, flush=True)
        return Error(f"{type(e).__name__}: {e}", "FAILED", detail)

    def serve(self) -> None:
        """Serves the host that started this process, and never returns."""
        check_started_by_host(self.name)
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        life = Life()
        services = Services(self, life)
        await life.serve(services.handlers(), services.close)
