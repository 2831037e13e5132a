"""Public suffixes, quickly: rules and their meaning are the library's; this only avoids asking it for every name."""

from publicsuffixlist import PublicSuffixList

_ANY_LABEL = "-"
"""Stands for a label that no rule names, so that only a wildcard matches it."""


class SuffixList(PublicSuffixList):
    """The list inside the wheel (50-80 ms to read). An import asks it for two names a domain."""

    def __init__(self, *, icann_only: bool) -> None:
        super().__init__(only_icann=icann_only)
        self._named = frozenset(rule.removeprefix("!") for rule in self._publicsuffix)
        self._inner = frozenset(parent for rule in self._named for parent in _parents(rule))
        self._label_counts: dict[str, int] = {}

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


def _parents(rule: str) -> list[str]:
    labels = rule.split(".")
    return [".".join(labels[n:]) for n in range(1, len(labels))]
