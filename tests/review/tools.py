"""Evaluations without an evaluation: layers are given, and jobs and URLs are rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection, insert, select, text

from bailiwick.accounts.members import local_admin
from bailiwick.base.bands import DEFAULT_BANDS, Bands
from bailiwick.base.review_sections import ReviewSettings
from bailiwick.db.engine import Database
from bailiwick.db.tables import domains, job_urls, jobs
from bailiwick.model.layers import (
    BrokenLinks,
    ContentQuality,
    DomainAge,
    Flag,
    GuestPostFlags,
    Layer1Results,
    Layer2Results,
    Layer3Results,
    Proof,
    RegistrarReputation,
    Signal,
    SslCertificate,
    ThinContent,
    TldType,
    WhoisPrivacy,
)
from bailiwick.model.urls import page_key
from bailiwick.review import listing
from bailiwick.review.listing import Entry
from bailiwick.review.routing import NewEvaluation, Routed, route
from tests.registry.tools import admit

BANDS = Bands.of(DEFAULT_BANDS)
SETTINGS = ReviewSettings()
FOUND, NOT_FOUND = Flag(checked=True, detected=True), Flag(checked=True)

LAYER1 = Layer1Results(
    domain_age=DomainAge(checked=True, passed=True, value=365, threshold=180),
    tld_type=TldType(checked=True, value="info", red_flags=("info", "tk")),
    registrar_reputation=RegistrarReputation(),
    whois_privacy=WhoisPrivacy(checked=True, passed=True, enabled=False),
    ssl_certificate=SslCertificate(checked=True, passed=True, valid=True, issuer="Some CA"),
    unchecked={"registrar_reputation": "the registry did not answer"},
)
LAYER2 = Layer2Results(
    guest_post_red_flags=GuestPostFlags(
        contact_page=FOUND,
        author_bio=NOT_FOUND,
        pricing_page=NOT_FOUND,
        submit_content=NOT_FOUND,
        write_for_us=FOUND,
        guest_post_guidelines=NOT_FOUND,
    ),
    content_quality=ContentQuality(
        thin_content=ThinContent(checked=True, word_count=812, threshold=300),
        excessive_ads=Flag(),
        broken_links=BrokenLinks(checked=True, count=1),
    ),
    unchecked={"excessive_ads": "the page has no styles"},
)
LAYER3 = Layer3Results(
    design_quality=Signal(score=0.7, detected=True, reasoning="Clean layout"),
    content_originality=Signal(score=0.6, detected=True),
    authority_indicators=Signal(score=0.4, detected=False),
    professional_presentation=Signal(score=0.65, detected=True),
)
PROOFS = {"layer2": {"write_for_us": (Proof(url="https://site.example/write", text="Write for us!"),)}}


@dataclass(frozen=True)
class Url:
    """A URL of a job, with everything that an evaluation of it needs."""

    id: int
    job_id: int
    domain_id: int
    name: str
    path: str


def job(conn: Connection, name: str = "evaluate", *, by: int | None = None) -> int:
    """A job of the kind `evaluation`."""
    known = conn.execute(select(jobs.c.id).where(jobs.c.name == name)).scalar()
    if known is not None:
        return int(known)
    row = {"name": name, "kind": "evaluation", "state": "running", "created_by": by or local_admin(conn).id}
    return int(conn.execute(insert(jobs).values(row).returning(jobs.c.id)).scalar_one())


def urls(conn: Connection, count: int, *, domain: str = "site.example", job_id: int | None = None) -> list[Url]:
    """So many more URLs of a job, on one domain."""
    known = conn.execute(select(domains.c.id).where(domains.c.name == domain)).scalar()
    domain_id = int(known) if known is not None else admit(conn, domain)[0].id
    of_job = job_id or job(conn)
    first = int(conn.execute(text("select count(*) from job_urls")).scalar_one())
    paths = [f"/{first + n}" for n in range(count)]
    rows = [
        {
            "job_id": of_job,
            "domain_id": domain_id,
            "url": f"https://{domain}{path}",
            "path": path,
            "path_hash": int.from_bytes(page_key(path), "big", signed=True),
        }
        for path in paths
    ]
    ids = conn.execute(insert(job_urls).returning(job_urls.c.id, sort_by_parameter_order=True), rows).scalars()
    return [Url(id_, of_job, domain_id, domain, path) for id_, path in zip(ids, paths, strict=True)]


def evaluation(url: Url, confidence: float, **more: object) -> NewEvaluation:
    made = NewEvaluation(
        url_id=url.id,
        job_id=url.job_id,
        domain_id=url.domain_id,
        name=f"{url.name}{url.path}",
        url=f"https://{url.name}{url.path}",
        title=f"Page {url.path}",
        profile="general",
        policy_version="abc",
        confidence=confidence,
        evidence_confidence=confidence,
        model_id=None,
        learned_probability=None,
        reasoning="because",
        layer1=LAYER1,
        layer2=LAYER2,
        layer3=LAYER3,
        layer3_by="local",
        proofs=PROOFS,
        embedding=b"\x01\x02",
        body_hash=b"body",
    )
    return replace(made, **more)  # type: ignore[arg-type]


def routed(
    conn: Connection, url: Url, confidence: float, settings: ReviewSettings = SETTINGS, **more: object
) -> Routed:
    by = more.pop("submitted_by", None) or local_admin(conn).id
    made = evaluation(url, confidence, **more)
    return route(conn, made, BANDS, settings, submitted_by=int(str(by)))


def queued(
    conn: Connection, confidences: Sequence[float] = (0.6,), *, where: Sequence[Url] | None = None, **more: object
) -> list[Entry]:
    """Entries that wait, one for each confidence."""
    pages = where or urls(conn, len(confidences))
    made = [
        routed(conn, url, score, **more)  # type: ignore[arg-type]
        for url, score in zip(pages, confidences, strict=True)
    ]
    ids = [
        conn.execute(
            text("select id from review_queue where evaluation_id = :e"), {"e": one.evaluation_id}
        ).scalar_one()
        for one in made
    ]
    return [listing.get(conn, one) for one in ids]


def waiting(database: Database) -> int:
    with database.read() as conn:
        return int(conn.execute(text("select count(*) from review_queue where reviewed_at is null")).scalar_one())
