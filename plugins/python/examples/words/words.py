"""words: two tools. One counts the words of a file, one finds those that stand there most."""
import collections
import re
from pathlib import Path
from typing import Annotated

from tureen_plugin import Call, Failure, Plugin

plugin = Plugin("words", "1.0.0", config_schema={
    "type": "object", "additionalProperties": False,
    "properties": {"min_length": {"type": "integer", "minimum": 1, "description": "shorter words do not count; default 1"}}})
File = Annotated[str, "the file, relative to the working directory"]


@plugin.tool("Counts the lines, words and characters of a text file.", name="count_words", parallel=True, timeout=30)
def count(call: Call, path: File) -> str:
    text = read(call, path)
    return f"{path}: {len(text.splitlines())} lines, {len(words(text))} words, {len(text)} characters"


@plugin.tool("Lists the words that stand most often in a text file.", name="top_words", parallel=True, timeout=30)
def top(call: Call, path: File, limit: Annotated[int, "how many, at most 100"] = 10) -> str:
    found = collections.Counter(w.lower() for w in words(read(call, path))).most_common(max(1, min(limit, 100)))
    return "\n".join(f"{n}\t{word}" for word, n in found) or "(no words)"


def words(text: str) -> list[str]:
    return [w for w in re.findall(r"[^\W_]+", text) if len(w) >= plugin.config.get("min_length", 1)]


def read(call: Call, path: str) -> str:
    root = Path(call.session.workspace).resolve()
    full = (root / path).resolve()
    if not full.is_relative_to(root):
        raise Failure(f"{path} lies outside of the working directory; name a file in it", "OUTSIDE")
    try:
        return full.read_text(encoding="utf-8")
    except (OSError, ValueError) as e:
        raise Failure(f"{path} cannot be read: {e}; name a text file", "UNREADABLE") from e


plugin.serve()
