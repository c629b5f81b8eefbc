"""Write a Tureen plugin in Python: a strategy or tools, in an ordinary function each.

    from tureen_plugin import Call, Plugin

    plugin = Plugin("greeter", "1.0.0")

    @plugin.tool("Greets somebody by name.", parallel=True)
    def greet(call: Call, name: str) -> str:
        return f"Good day, {name}."

    plugin.serve()

It needs Python 3.11, grpcio and protobuf: Debian's python3-grpcio and python3-protobuf.
"""
from . import life as _life  # first: from here on stdout belongs to the handshake
from .host import Session
from .plugin import Plugin
from .shapes import (Answer, Budget, Error, Event, Failure, Input, Mark, Meter, Node, Opening, Proposal, Record, Result, Section,
                     boundaries, drop, newest, replace, trim)
from .tools import Call

__all__ = ["Answer", "Budget", "Call", "Error", "Event", "Failure", "Input", "Mark", "Meter", "Node", "Opening", "Plugin", "Proposal",
           "Record", "Result", "Section", "Session", "boundaries", "drop", "newest", "replace", "trim"]
