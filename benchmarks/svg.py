"""Small plots as SVG: horizontal bars and a line chart. Text stays text, and they fit a light and a dark page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

Points = Sequence[tuple[float, float]]
_WIDTH, _ROW, _LETTER = 720, 30, 7.0
_PLOT_HEIGHT, _MARGIN = 240, 64
_STYLE = """<style>
svg { --ink: #1f2328; --faint: #656d76; --line: #d0d7de; --paper: #ffffff; --s0: #0969da; --s1: #bc4c00;
  --s2: #1a7f37; --s3: #8250df; font: 13px system-ui, sans-serif }
@media (prefers-color-scheme: dark) { svg { --ink: #e6edf3; --faint: #8d96a0; --line: #30363d; --paper: #0d1117;
  --s0: #4493f8; --s1: #f0883e; --s2: #3fb950; --s3: #ab7df8 } }
.paper { fill: var(--paper) } text { fill: var(--ink) } .faint { fill: var(--faint); font-size: 11px }
.title { font-size: 15px; font-weight: 600 } .axis { stroke: var(--line); stroke-width: 1 }
.s0 { --c: var(--s0) } .s1 { --c: var(--s1) } .s2 { --c: var(--s2) } .s3 { --c: var(--s3) }
.bar { fill: var(--c) } .curve { fill: none; stroke: var(--c); stroke-width: 2 }
</style>"""


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a bar chart; `note` stands behind its value."""

    label: str
    value: float
    note: str = ""


def bars(title: str, rows: Sequence[Bar], *, unit: str) -> str:
    """One bar a row, the first in a colour of its own."""
    most = max((row.value for row in rows), default=0.0) or 1.0
    left = 32 + _LETTER * max((len(row.label) for row in rows), default=0)
    parts = [_text(16, 26, title, "title"), _text(16, 46, unit, "faint")]
    for n, row in enumerate(rows):
        y = 60 + n * _ROW
        long = (_WIDTH - left - 150) * row.value / most
        colour = "s0" if n == 0 else "s1"
        parts.append(_text(left - 10, y + 16, row.label, anchor="end"))
        parts.append(
            f'<rect class="bar {colour}" x="{left:.0f}" y="{y}" width="{max(long, 1):.1f}" height="22" rx="2"/>'
        )
        parts.append(_text(left + long + 8, y + 16, f"{number(row.value)} {row.note}".strip()))
    return _drawn(title, 60 + len(rows) * _ROW + 12, parts)


def lines(title: str, series: Mapping[str, Points], *, x_label: str, y_label: str) -> str:
    """Curves from zero upward, with a legend above."""
    points = [point for curve in series.values() for point in curve]
    across, upward = _ticks(max((x for x, _ in points), default=0.0)), _ticks(max((y for _, y in points), default=0.0))
    widest, highest = across[-1], upward[-1]
    top, right = 64 + 22 * -(-len(series) // 2), _WIDTH - _MARGIN - 24
    parts = [_text(16, 26, title, "title"), _text(16, 46, y_label, "faint")]
    for tick in upward:
        y = top + _PLOT_HEIGHT * (1 - tick / highest)
        parts.append(f'<line class="axis" x1="{_MARGIN}" y1="{y:.1f}" x2="{_MARGIN + right}" y2="{y:.1f}"/>')
        parts.append(_text(_MARGIN - 8, y + 4, number(tick), "faint", anchor="end"))
    for tick in across:
        x = _MARGIN + right * tick / widest
        parts.append(_text(x, top + _PLOT_HEIGHT + 18, number(tick), "faint", anchor="middle"))
    parts.append(_text(_MARGIN + right / 2, top + _PLOT_HEIGHT + 38, x_label, "faint", anchor="middle"))
    for n, (name, curve) in enumerate(series.items()):
        x, y = 16 + 350 * (n % 2), 70 + 22 * (n // 2)
        places = (f"{_MARGIN + right * a / widest:.1f},{top + _PLOT_HEIGHT * (1 - b / highest):.1f}" for a, b in curve)
        parts.append(f'<polyline class="curve s{n % 4}" points="{" ".join(places)}"/>')
        parts.append(f'<rect class="bar s{n % 4}" x="{x}" y="{y - 11}" width="12" height="12" rx="2"/>')
        parts.append(_text(x + 18, y, name))
    return _drawn(title, top + _PLOT_HEIGHT + 52, parts)


def _ticks(most: float) -> list[float]:
    """Three to six round numbers from zero on, the last of them no less than this."""
    rough = (most or 1.0) / 5
    power = 10.0 ** floor(log10(rough))
    step = next(step for step in (power, 2 * power, 2.5 * power, 5 * power, 10 * power) if step >= rough * 0.999)
    return [step * n for n in range(ceil(most / step - 0.001) + 1)] if most else [0.0, 1.0]


def number(value: float) -> str:
    """As short as it can be read."""
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def _text(x: float, y: float, words: str, kind: str = "", *, anchor: str = "start") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _drawn(title: str, height: float, parts: Sequence[str]) -> str:
    start = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}" role="img">'
    paper = f'<rect class="paper" width="{_WIDTH}" height="{height:.0f}"/>'
    return "\n".join([start, f"<title>{escape(title)}</title>", _STYLE, paper, *parts, "</svg>"]) + "\n"
