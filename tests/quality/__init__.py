"""Floors under the quality of what is extracted and judged, on public suites."""
