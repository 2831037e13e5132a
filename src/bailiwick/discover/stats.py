"""What a session came to: specification 001's ProcessingStats, and what else was counted."""

from collections import Counter
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, Field


class Stats(BaseModel):
    """Every page found ends in one of created, low confidence, known, blacklisted and failures."""

    model_config = ConfigDict(extra="ignore")

    total_processed: int = 0
    candidates_created: int = 0
    skipped_low_confidence: int = 0
    skipped_domain_already_processed: int = 0
    """Also pages that are candidates already, and domains that people decided about."""
    skipped_blacklisted: int = 0
    failures: int = 0
    average_confidence: float | None = None
    """Of the candidates created."""
    max_confidence: float | None = None
    min_confidence: float | None = None
    """Of all that was judged, as the highest."""
    processing_time_ms: int = 0
    results: int = 0
    duplicates: int = 0
    refused: dict[str, int] = Field(default_factory=dict)
    domains: int = 0
    domains_new: int = 0
    domains_proposed: int = 0
    domains_admitted: int = 0
    engine_calls: int = 0
    engine_failures: int = 0
    cost: float = 0.0

    def judged(self, created: Iterable[float], skipped: Iterable[float]) -> None:
        """Count what was judged, by confidence."""
        made, low = list(created), list(skipped)
        if made:
            total = (self.average_confidence or 0.0) * self.candidates_created + sum(made)
            self.average_confidence = total / (self.candidates_created + len(made))
        seen = [*made, *low]
        if seen:
            self.max_confidence = max(*seen, self.max_confidence if self.max_confidence is not None else 0.0)
            self.min_confidence = min(*seen, self.min_confidence if self.min_confidence is not None else 1.0)
        self.candidates_created += len(made)
        self.skipped_low_confidence += len(low)
        self.total_processed += len(seen)

    def passed_over(self, count: int, *, blacklisted: bool) -> None:
        self.total_processed += count
        if blacklisted:
            self.skipped_blacklisted += count
        else:
            self.skipped_domain_already_processed += count

    def failed(self, count: int) -> None:
        self.total_processed += count
        self.failures += count

    def go_on(self) -> None:
        """The session was interrupted: it looks at everything again, and what it passes over is counted anew."""
        self.skipped_domain_already_processed = self.skipped_blacklisted = self.failures = 0
        self.engine_failures = 0  # who has answered is not asked again, all others are
        self.total_processed = self.candidates_created + self.skipped_low_confidence

    def took_in(self, results: int, duplicates: int, refused: Counter[str]) -> None:
        """What the engines brought; a session that goes on counts it anew."""
        self.results, self.duplicates, self.refused = results, duplicates, dict(refused)
