"""`--scope site`: hosts of the seed's site that its pages link to become domains of their own, wanted by the same job.

They are read from the outlinks that the flush wrote: a crash in between loses none, and asking twice changes nothing.
"""

from sqlalchemy import Connection, func, select

from bailiwick.base.errors import NameRefusedError
from bailiwick.crawl.flush import SQL
from bailiwick.crawl.jobs import want
from bailiwick.db.tables import job_domains, jobs, members
from bailiwick.ledger.events import Actor
from bailiwick.model.names import DomainName
from bailiwick.model.states import Role
from bailiwick.model.urls import UrlRules
from bailiwick.registry.apply import lock_queue
from bailiwick.registry.records import Domain
from bailiwick.registry.submit import Submission, request_page, submit

_MOST_HOSTS = 1000
_AT_ONCE = 100
_PATHS = 100
_LIVE = ("running", "paused")


def widen(conn: Connection, job_id: int, domain_id: int, name: DomainName, rules: UrlRules) -> int:
    """Admit further hosts of this domain's site, in the name of whoever made the job. How many?

    A host that is known keeps its state: one that was rejected, say, is not crawled for being linked to.
    """
    job = conn.execute(
        select(jobs.c.name, members.c.id, members.c.name.label("member"), members.c.role)
        .join(members, members.c.id == jobs.c.created_by)
        .where(jobs.c.id == job_id, jobs.c.state.in_(_LIVE))
    ).one_or_none()
    wanted = conn.execute(
        select(func.count()).select_from(job_domains).where(job_domains.c.job_id == job_id)
    ).scalar_one()
    if job is None or wanted >= _MOST_HOSTS:
        return 0
    actor = Actor(job.id, job.member, Role(job.role))
    port = "" if name.port is None else f":{name.port}"
    rows = conn.exec_driver_sql(
        SQL["site_hosts"],
        {
            "domain_id": domain_id,
            "job_id": job_id,
            "site": f"{name.site}{port}",
            "under": f"%.{name.site}{port}",
            "hosts": _AT_ONCE,
            "paths": _PATHS,
        },
    ).all()
    with conn.begin_nested() as undo:
        found = [(domain, row.paths) for row in rows if (domain := _admitted(conn, row.target, job.name, actor, rules))]
        ids = sorted(domain.id for domain, _ in found)
        lock_queue(conn, ids)
        if not _is_live(conn, job_id):
            undo.rollback()  # it ended meanwhile: these hosts are not for the standing job
            return 0
        for domain, paths in found:
            for path in paths:
                request_page(conn, domain, path, actor)
        if ids:
            want(conn, job_id, ids)
    return len(ids)


def _is_live(conn: Connection, job_id: int) -> bool:
    state = select(jobs.c.state).where(jobs.c.id == job_id).with_for_update(read=True)
    return conn.execute(state).scalar() in _LIVE


def _admitted(conn: Connection, target: str, job: str, actor: Actor, rules: UrlRules) -> Domain | None:
    try:
        host = DomainName.parse(target, allow_private=rules.allow_private)
    except NameRefusedError:
        return None
    what = Submission(host, context=f"scope site of job {job}", source="crawl", admit=actor.role is Role.ADMIN)
    domain = submit(conn, what, actor).domain
    return domain if domain.approval == "approved" and domain.refusal is None else None
