"""robots.txt of hosts that nobody holds: as it was read lately, or kept as it was read just now."""

from bailiwick.crawl.flush import SQL
from bailiwick.db.engine import Database
from bailiwick.net.robots import MAX_BYTES, RobotsVerdict, decide
from bailiwick.ports import FetchAnswer


def known_robots(database: Database, origin: str, agent: str) -> RobotsVerdict | None:
    """What it said, if that has not expired."""
    with database.read() as conn:
        row = conn.exec_driver_sql(SQL["robots_of"], {"origins": [origin]}).one_or_none()
    if row is None:
        return None
    return decide(row.status, row.body.encode() if row.body is not None else None, agent)


def keep_robots(database: Database, origin: str, answer: FetchAnswer, agent: str) -> RobotsVerdict:
    """What it says; kept for whoever comes next."""
    body = (answer.body or b"")[:MAX_BYTES] if 200 <= answer.status < 300 else None
    verdict = decide(answer.status, body, agent)
    kept: dict[str, object] = {
        "origin": [origin],
        "kind": [verdict.kind.value],
        "status": [answer.status],
        "body": [body.decode("utf-8", "replace").replace("\x00", "") if body is not None else None],
        "error": [verdict.reason],
        "expires_seconds": [verdict.expires_seconds],
    }
    with database.begin() as conn:
        conn.exec_driver_sql(SQL["keep_robots"], kept)
    return verdict
