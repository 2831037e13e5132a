"""Public suffixes, quickly: rules and their meaning are the library's; this only avoids asking it for every name."""

from collections.abc import Iterator
from functools import cached_property

from publicsuffixlist import PSLFILE, PublicSuffixList, encode_idn

_ANY_LABEL = "-"
"""Stands for a label that no rule names, so that only a wildcard matches it."""


class SuffixList(PublicSuffixList):
    """The list inside the wheel. An import asks it for two names a domain."""

    def __init__(self, *, icann_only: bool) -> None:
        # Encoded here, where that changes anything: the library would encode each of the ten thousand rules.
        super().__init__(list(_rules_and_marks()), accept_encoded_idn=False, only_icann=icann_only)
        self._label_counts: dict[str, int] = {}

    @cached_property
    def _named(self) -> frozenset[str]:
        return frozenset(rule.removeprefix("!") for rule in self._publicsuffix)

    @cached_property
    def _inner(self) -> frozenset[str]:
        return frozenset(parent for rule in self._named for parent in _parents(rule))

    def is_suffix(self, host: str) -> bool:
        """What `is_public` says of a canonical host name. Hardly any name needs to be asked for."""
        _, dot, parent = host.partition(".")
        rules = self._publicsuffix
        if dot and host not in rules and f"*.{host}" not in rules and f"*.{parent}" not in rules:
            return False
        return bool(self.is_public(host))

    def registrable(self, host: str) -> str:
        """What `privatesuffix` says of a canonical host name, or the name itself where that is nothing."""
        inner, dot = "", len(host)
        while True:
            dot = host.rfind(".", 0, dot)
            if dot < 0:
                return self.privatesuffix(host) or host
            tail = host[dot + 1 :]
            if tail not in self._inner:
                break
            inner = tail
        # No rule is longer than the tail, so the suffix depends on the tail alone: on its first label only if a rule
        # names it. That makes few cases of many names.
        case = tail if tail in self._named else f"{_ANY_LABEL}.{inner}" if inner else _ANY_LABEL
        count = self._label_counts.get(case)
        if count is None:
            count = self._label_counts[case] = len((self.publicsuffix(case) or "").split("."))
        head, *labels = host.rsplit(".", count + 1)
        return host[len(head) + 1 :] if len(labels) > count else host


def _rules_and_marks() -> Iterator[str]:
    """The library's file without its remarks; a rule that is not ASCII in both its spellings."""
    with open(PSLFILE, encoding="utf-8") as file:  # noqa: PTH123 - the library's name of it is a str
        for line in file:
            if line.startswith("//") and "===" not in line:
                continue
            yield line
            if not line.isascii() and not line.startswith("//"):
                rule = line.split(" ")[0].strip().lower()
                exception = "!" if rule.startswith("!") else ""
                yield exception + encode_idn(rule.removeprefix("!"))


def _parents(rule: str) -> list[str]:
    labels = rule.split(".")
    return [".".join(labels[n:]) for n in range(1, len(labels))]
