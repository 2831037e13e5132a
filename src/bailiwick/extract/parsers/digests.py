"""Of which files a parser is made, and a digest of them."""

import ast
from hashlib import blake2b
from pathlib import Path

PACKAGE = "bailiwick_parsers"
"""The name by which modules of a parsers folder know each other."""


def file_digest(path: Path) -> str:
    """Of a file of the folder with all that it imports from there. A file that cannot be read has the empty one's."""
    digest = blake2b(digest_size=16)
    for part in sorted(_parts(path, set())):
        digest.update(f"{part.name}\0".encode())
        digest.update(_bytes(part))
    return digest.hexdigest()


def _parts(path: Path, seen: set[Path]) -> set[Path]:
    seen.add(path)
    for name in _local_imports(_bytes(path)):
        for candidate in (path.parent / f"{name}.py", path.parent / name / "__init__.py"):
            if candidate.is_file() and candidate not in seen:
                _parts(candidate, seen)
    return seen


def _local_imports(source: bytes) -> set[str]:
    """Names of modules beside it: `from .shelf import x`, `from . import shelf`, `import bailiwick_parsers.shelf`."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return set()
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level or module.split(".")[0] == PACKAGE:
                first = module.removeprefix(PACKAGE).lstrip(".").split(".")[0]
                found |= {first} if first else {name.name for name in node.names}
        elif isinstance(node, ast.Import):
            parts = [name.name.split(".") for name in node.names]
            found |= {part[1] for part in parts if part[0] == PACKAGE and len(part) > 1}
    return found


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
