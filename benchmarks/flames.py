"""A flame graph out of py-spy's raw stacks: each frame as wide as its share of the samples, callers below callees."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape

_WIDTH, _ROW, _LETTER = 1400, 17, 6.2
_LEAST_SHARE = 0.002
_OUTER = re.compile(r'process \d+:".*')
_PLACE = re.compile(r" \((?:.*site-packages/)?([^:)]*)(?::\d+)?\)$")
_STYLE = """<style>
svg { --ink: #1f2328; --paper: #ffffff; --ours: #ffb77c; --others: #a5d6ff; --edge: #ffffff;
  font: 11px system-ui, sans-serif }
@media (prefers-color-scheme: dark) { svg { --ink: #e6edf3; --paper: #0d1117; --ours: #7a4412; --others: #1b4b7a;
  --edge: #0d1117 } }
.paper { fill: var(--paper) } text { fill: var(--ink); pointer-events: none }
.title { font-size: 15px; font-weight: 600 }
.ours { fill: var(--ours) } .others { fill: var(--others) } rect { stroke: var(--edge); stroke-width: .5 }
</style>"""


@dataclass(slots=True)
class _Frame:
    samples: int = 0
    callees: "dict[str, _Frame]" = field(default_factory=dict)

    @property
    def height(self) -> int:
        return 1 + max((callee.height for callee in self.callees.values()), default=0)


def flames(title: str, stacks: Iterable[str]) -> str:
    """The picture. A frame's share and its file are its tooltip; frames below 0.2% are left out."""
    root = _Frame()
    for names, samples in _read(stacks):
        frame = root
        frame.samples += samples
        for name in names:
            frame = frame.callees.setdefault(name, _Frame())
            frame.samples += samples
    _prune(root, root.samples * _LEAST_SHARE)
    height = 44 + _ROW * root.height
    parts = [f'<text class="title" x="10" y="24">{escape(f"{title} ({root.samples:,} samples)")}</text>']
    parts += _drawn(root, 0.0, height - 8, root.samples)
    start = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">'
    paper = f'<rect class="paper" width="{_WIDTH}" height="{height}"/>'
    return "\n".join([start, f"<title>{escape(title)}</title>", _STYLE, paper, *parts, "</svg>"]) + "\n"


def _read(stacks: Iterable[str]) -> Iterator[tuple[list[str], int]]:
    """The frames of each stack without processes and lines, and how often it was seen."""
    seen: Counter[str] = Counter()
    for line in stacks:
        stack, _, samples = line.rpartition(" ")
        seen[stack] += int(samples)
    for stack, samples in seen.items():
        names = [_PLACE.sub(r" (\1)", name) for name in stack.split(";") if not _OUTER.match(name)]
        yield [name for name in names if "importlib" not in name], samples


def _prune(frame: _Frame, least: float) -> None:
    frame.callees = {name: callee for name, callee in frame.callees.items() if callee.samples >= least}
    for callee in frame.callees.values():
        _prune(callee, least)


def _drawn(frame: _Frame, x: float, y: float, total: int) -> Iterator[str]:
    for name, callee in sorted(frame.callees.items()):
        share = callee.samples / total
        width = share * (_WIDTH - 20)
        kind = "ours" if "(bailiwick/" in name else "others"
        yield (
            f'<g><rect class="{kind}" x="{10 + x:.1f}" y="{y - _ROW:.0f}" width="{width:.1f}" height="{_ROW}"/>'
            f"<title>{escape(name)}: {share:.1%}</title>"
        )
        if (letters := int((width - 6) / _LETTER)) >= 4:
            yield f'<text x="{13 + x:.1f}" y="{y - 5:.0f}">{escape(name[:letters])}</text>'
        yield "</g>"
        yield from _drawn(callee, x, y - _ROW, total)
        x += width
