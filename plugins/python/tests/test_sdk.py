"""Tests of the SDK that need no host: PYTHONPATH=. python3 -m unittest discover -s tests"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Annotated

import tureen_plugin as sdk
from tureen_plugin import wire
import grpc

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 60


def nodes(*shape):
    """(role, tokens, calls of an assistant or the call that a result answers), node 0 first."""
    made = [sdk.Node(1, role="system", tokens=100)]
    for i, (role, tokens, *calls) in enumerate(shape, 2):
        made.append(sdk.Node(i, role=role, tokens=tokens, call_ids=tuple(calls) if role == "assistant" else (),
                             call_id=calls[0] if role == "tool" else ""))
    return made


class Pure(unittest.TestCase):
    def test_newest_parts_no_call_from_its_result(self):
        surface = nodes(("user", 10), ("assistant", 5, "a", "b"), ("tool", 50, "a"), ("tool", 50, "b"), ("assistant", 5), ("user", 5))
        self.assertEqual(sdk.boundaries(surface), [True, True, True, False, False, True, True, True])
        for tokens, index in ((0, 7), (5, 6), (10, 5), (60, 5), (114, 5), (115, 2), (125, 1), (9999, 1)):
            self.assertEqual(sdk.newest(surface, tokens), index, tokens)
        self.assertEqual(sdk.newest(surface[:4], 0), 2)  # a call without its result stays with it

    def test_a_schema_is_made_of_the_parameters(self):
        def f(call: sdk.Call, path: Annotated[str, "where"], tags: list[str], deep: bool = False, n: int = 3): ...
        self.assertEqual(sdk.tools.schema_of(f), {
            "type": "object", "required": ["path", "tags"], "additionalProperties": False, "properties": {
                "path": {"type": "string", "description": "where"}, "tags": {"type": "array", "items": {"type": "string"}},
                "deep": {"type": "boolean"}, "n": {"type": "integer"}}})

        def g(call: sdk.Call, when: complex): ...
        with self.assertRaisesRegex(TypeError, "g: when"):
            sdk.tools.schema_of(g)

    def test_pieces_are_whole_characters_and_nothing_is_lost(self):
        for text in ("", "a" * wire.PIECE, "a" + "€" * wire.PIECE, "ab" + "😀" * wire.PIECE):
            parts = list(wire.pieces(text))
            self.assertEqual("".join(parts), text)
            self.assertTrue(all(0 < len(p.encode()) <= wire.PIECE for p in parts))

    def test_a_text_is_made_fit_for_the_wire(self):
        edit = sdk.replace(sdk.Node(2), sdk.Node(3), "half \ud800 and \0")
        self.assertEqual(edit.replace.messages[0].text, "half ? and \ufffd")

    def test_a_plugin_is_described_right_or_not_at_all(self):
        for bad in (("Upper", "1"), ("fine", ""), ("fine", "1", ["read.everything"])):
            with self.assertRaises(ValueError):
                sdk.Plugin(*bad)
        p = sdk.Plugin("fine", "1")
        p.tool("one")(lambda call: None)
        with self.assertRaisesRegex(ValueError, "two tools"):
            p.tool("two")(lambda call: None)


class Process(unittest.TestCase):
    """The words example, without a host: what it does before one says hello."""

    def setUp(self):
        self.dir = tempfile.TemporaryDirectory(dir="/tmp")
        self.addCleanup(self.dir.cleanup)

    def start(self, **env):
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TUREEN_PLUGIN": "tureen-plugin-1", "PLUGIN_PROTOCOL_VERSIONS": "1,2",
               "PLUGIN_UNIX_SOCKET_DIR": self.dir.name, **env}
        p = subprocess.Popen([sys.executable, "-B", "words.py"], cwd=ROOT / "examples/words", env=env, text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(lambda: (p.kill(), p.wait(), p.stdin.close(), p.stdout.close(), p.stderr.close()))
        return p

    def ask(self, line, path, **fields):
        rpc = wire.method(path)
        with grpc.insecure_channel("unix:" + line.split("|")[3]) as channel:
            return channel.unary_unary(f"/{wire.PACKAGE}{path}", wire.message(rpc.input_type.name).SerializeToString,
                                       wire.message(rpc.output_type.name).FromString)(wire.make(rpc.input_type.name, **fields), timeout=PATIENCE)

    def test_it_does_nothing_on_its_own(self):
        p = self.start(TUREEN_PLUGIN="")
        out, err = p.communicate(timeout=PATIENCE)
        self.assertEqual((p.returncode, out), (1, ""))
        self.assertIn("name it in a profile", err)

    def test_one_line_then_it_answers_and_the_end_of_stdin_ends_it(self):
        p = self.start()
        line = p.stdout.readline()
        self.assertEqual(line, f"1|1|unix|{self.dir.name}/plugin.sock|grpc\n")
        self.assertEqual(self.ask(line, "Base/GetInfo"), self.ask(line, "Base/GetInfo"))
        for path in ("Tools/ListTools", "Base/OpenSession"):
            with self.assertRaises(grpc.RpcError) as refused:
                self.ask(line, path)
            self.assertEqual(refused.exception.code(), grpc.StatusCode.FAILED_PRECONDITION)
        p.stdin.close()
        self.assertEqual(p.wait(PATIENCE), 0)
        self.assertEqual(p.stdout.read(), "")

    def test_sigterm_ends_it(self):
        p = self.start()
        p.stdout.readline()
        p.terminate()
        self.assertEqual(p.wait(PATIENCE), 0)

    def test_a_host_that_does_not_answer_ends_it(self):
        p = self.start()
        line = p.stdout.readline()
        with self.assertRaises(grpc.RpcError):
            self.ask(line, "Base/Initialize", host_address=self.dir.name + "/none.sock", token="t")
        self.assertNotEqual(p.wait(PATIENCE), None)


if __name__ == "__main__":
    unittest.main()
