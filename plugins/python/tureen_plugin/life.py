"""The life of a plugin process: the handshake, and every way in which it ends."""
from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

from . import wire  # sets the environment of gRPC
import grpc

COOKIE, VALUE, VERSION = "TUREEN_PLUGIN", "tureen-plugin-1", 1
GRACE = 2.0  # seconds for what is under way, once the process has to end
THREADS = 64  # for functions that are not coroutines

# From the import on whatever is printed goes to stderr, also by a library or a child:
# stdout belongs to the handshake line.
_line_out = None
if os.environ.get(COOKIE) == VALUE:
    _line_out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)


class Life:
    """Serves until the host lets go: Shutdown is called, the life line or stdin ends, or
    SIGTERM comes. Whatever hangs, the process is gone GRACE seconds later."""

    def __init__(self):
        self._loop = asyncio.get_running_loop()
        self._loop.set_default_executor(ThreadPoolExecutor(THREADS))
        self._over = asyncio.Event()
        self._told = threading.Lock()

    def end(self) -> None:
        """Begins the end; from any thread, as often as one likes."""
        if self._told.acquire(blocking=False):
            last = threading.Timer(GRACE, os._exit, [1])
            last.daemon = True
            last.start()
            self._loop.call_soon_threadsafe(self._over.set)

    async def serve(self, handlers: list, close) -> None:
        """Serves the handlers, then calls close, and never returns."""
        server = grpc.aio.server(options=[("grpc.max_receive_message_length", wire.MAX_MESSAGE)])
        server.add_generic_rpc_handlers(handlers + [_plain("grpc.health.v1.Health", "Check", _healthy),
                                                    _plain("plugin.GRPCController", "Shutdown", self._shutdown)])
        path = os.path.join(os.environ["PLUGIN_UNIX_SOCKET_DIR"], "plugin.sock")
        version = _version(os.environ.get("PLUGIN_PROTOCOL_VERSIONS", ""))
        for name in [n for n in os.environ if n == COOKIE or n.startswith("PLUGIN_")]:
            del os.environ[name]  # what is meant for this process alone
        server.add_insecure_port("unix:" + path)
        await server.start()
        threading.Thread(target=self._follow_stdin, daemon=True).start()
        signal.signal(signal.SIGTERM, lambda *_: self.end())
        print(f"1|{version}|unix|{path}|grpc", file=_line_out, flush=True)
        await self._over.wait()
        await server.stop(0.2)
        await close()
        sys.stderr.flush()
        os._exit(0)  # whatever a thread may still be doing

    async def _shutdown(self, request: bytes, context) -> bytes:
        context.add_done_callback(lambda _: self.end())  # answer first, then end
        return b""

    def _follow_stdin(self) -> None:
        while os.read(0, 4096):  # the host never writes; what counts is the end
            pass
        self.end()


def _version(offered: str) -> int:
    """The highest version that both sides speak; our own where there is none."""
    return max((v for v in offered.split(",") if v == str(VERSION)), default=VERSION)


async def _healthy(request: bytes, context) -> bytes:
    return b"\x08\x01"  # SERVING


def _plain(service: str, method: str, call):
    return grpc.method_handlers_generic_handler(service, {method: grpc.unary_unary_rpc_method_handler(call)})


def check_started_by_host(name: str) -> None:
    """Exits with a sentence on stderr where no host started the process."""
    if os.environ.get(COOKIE) != VALUE:
        sys.exit(f"{name} is a Tureen plugin and does nothing on its own: name it in a profile, or try it with tureen plugin inspect")
