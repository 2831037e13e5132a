"""What Prometheus reads: this server's requests, and what the workers say. No label is a domain's name."""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from bailiwick.db.engine import Database
from bailiwick.registry import overview, watching

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """One registry for one server."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "bailiwick_http_requests", "Requests answered.", ("route", "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "bailiwick_http_seconds", "Server time of a request.", ("route",), registry=self.registry,
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 10),
        )  # fmt: skip
        self.registry.register(self)

    def text(self) -> bytes:
        return generate_latest(self.registry)

    def describe(self) -> list[Metric]:
        """Nothing is known before it is asked for; the registry then does not look."""
        return []

    def collect(self) -> Iterator[Metric]:
        """As the database is at this moment."""
        with self._database.read() as conn:
            now, counts = watching.now(conn), overview.overview(conn)
        domains = GaugeMetricFamily("bailiwick_domains", "Domains, counted up to 10,001.", labels=("approval",))
        for state, count in counts.by_approval.items():
            domains.add_metric((state,), count)
        yield domains
        yield GaugeMetricFamily("bailiwick_domains_leased", "Domains being crawled, up to 10,001.", counts.leased)
        yield GaugeMetricFamily("bailiwick_domains_ready", "Domains waiting for a worker, up to 10,001.", counts.ready)
        yield GaugeMetricFamily("bailiwick_workers", "Workers that spoke in the last 30 seconds.", len(now.alive))
        pages = CounterMetricFamily("bailiwick_worker_pages", "Pages done since the worker began.", labels=("worker",))
        errors = CounterMetricFamily("bailiwick_worker_errors", "Failed fetches of it.", labels=("worker",))
        received = CounterMetricFamily("bailiwick_worker_bytes", "Bytes received by it.", labels=("worker",))
        opened = GaugeMetricFamily("bailiwick_worker_open_domains", "Domains open in it.", labels=("worker",))
        waiting = GaugeMetricFamily("bailiwick_worker_waiting_pages", "Pages waiting in these.", labels=("worker",))
        outcomes = CounterMetricFamily(
            "bailiwick_worker_outcomes", "Pages done, by outcome.", labels=("worker", "outcome")
        )
        for worker in now.alive:
            label = (worker.name,)
            pages.add_metric(label, worker.pages)
            errors.add_metric(label, worker.errors)
            received.add_metric(label, worker.bytes_fetched)
            opened.add_metric(label, worker.open_domains)
            waiting.add_metric(label, worker.waiting_pages)
            for outcome, count in worker.outcomes.items():
                outcomes.add_metric((worker.name, outcome), count)
        yield from (pages, errors, received, opened, waiting, outcomes)
