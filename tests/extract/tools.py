"""What tests of the parse stage share: pages with stored bodies that wait, contents, and the books."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b, sha256
from pathlib import Path

from sqlalchemy import Connection, text

from bailiwick.base.sections import StorageSettings
from bailiwick.db.engine import Database
from bailiwick.extract import queue
from bailiwick.extract.page import Extracted
from bailiwick.extract.queue import Claimed, Taker
from bailiwick.extract.writing import Result, Written, write
from bailiwick.model.content import Content, ContentKind, ParseOutcome, Relevance, RelevanceSource, Unread
from bailiwick.model.items import Item, ItemKind
from bailiwick.ports import StoredBody
from bailiwick.registry.workers import machine_id
from bailiwick.store.packs import PackStore
from bailiwick.store.shelf import Shelf
from tests.crawl.desk_tools import hash_of
from tests.registry.tools import admit

NAME = "example.org"
MARK = 7


def taker(worker: str = "w1", seconds: float = 60) -> Taker:
    return Taker(worker, machine_id(), seconds)


@dataclass
class Shelved:
    """A domain whose pages have bodies."""

    database: Database
    store: PackStore
    domain_id: int

    def put(self, path: str, body: bytes, content_type: str = "text/html", *, waits: bool = True) -> None:
        """A page with this body now, as a flush leaves it."""
        key, digest = hash_of(path), sha256(body).digest()
        ref = self.store.put(StoredBody(self.domain_id, key, b"HTTP/1.1 200 OK\r\n\r\n", body))
        self.store.close()  # its files are not this process's for ever
        values = {"d": self.domain_id, "p": key, "path": path, "b": digest, "t": content_type, "k": ref.pack_id,
                  "o": ref.offset, "l": ref.length}  # fmt: skip
        with self.database.begin() as conn:
            conn.execute(
                text("""
                    insert into pages (domain_id, path_hash, path, state, body_hash, content_type, pack_id, pack_offset,
                                       pack_length, last_fetched_at, fetch_count)
                    values (:d, :p, :path, 'fetched', :b, :t, :k, :o, :l, bailiwick_now(), 1)
                    on conflict (domain_id, path_hash) do update
                    set body_hash = :b, pack_id = :k, pack_offset = :o, pack_length = :l"""),
                values,
            )
            if waits:
                conn.execute(
                    text("""
                        insert into parse_queue (domain_id, path_hash, body_hash) values (:d, :p, :b)
                        on conflict (domain_id, path_hash) do update set body_hash = :b, worker = null,
                            claimed_until = null, attempts = 0"""),
                    values,
                )


def shelved(database: Database, directory: Path, name: str = NAME, profile: str = "general") -> Shelved:
    with database.begin() as conn:
        [domain] = admit(conn, name)
        conn.execute(text("update domains set profile = :p where id = :id"), {"p": profile, "id": domain.id})
    store = PackStore(Shelf(database, directory / "packs", machine_id(), StorageSettings()))
    return Shelved(database, store, domain.id)


def content(words: str, **more: object) -> Content:
    """A content that holds these words and nothing else."""
    digest = blake2b(words.encode(), digest_size=16).digest()
    plain = Content(ContentKind.HTML, words, len(words.split()), digest, int.from_bytes(digest[:8], "big", signed=True))
    return replace(plain, **more)  # type: ignore[arg-type]


RELEVANT = Relevance(1.0, True, "the profile takes everything", RelevanceSource.ALL)
IRRELEVANT = Relevance(0.1, False, "nothing of the topic", RelevanceSource.KEYWORDS)


def found(words: str, *, relevance: Relevance | None = RELEVANT, items: Sequence[Item] = ()) -> Extracted:
    return Extracted(content(words, title=words.title()), relevance, f"# {words}", list(items))


def article(headline: str, position: int = 0) -> Item:
    return Item(ItemKind.ARTICLE, position, {"headline": headline}, 0.9, "article", 1)


def take(database: Database, worker: str = "w1", limit: int = 100, seconds: float = 60) -> list[Claimed]:
    with database.begin() as conn:
        return queue.claim(conn, taker(worker, seconds), limit=limit)


def parsed(database: Database, results: dict[str, Extracted | Unread], worker: str = "w1") -> Written:
    """Take what waits, and write these results for it, by path."""
    pages = {page.path_hash: page for page in take(database, worker)}
    rows = [Result(pages[hash_of(path)], MARK, one) for path, one in results.items()]
    with database.begin() as conn:
        return write(conn, rows)


def unread(outcome: ParseOutcome, why: str = "so it is") -> Unread:
    return Unread(outcome, why)


def rows(conn: Connection, sql: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in conn.execute(text(sql))]


def count(database: Database, table: str) -> int:
    with database.read() as conn:
        return int(conn.execute(text(f"select count(*) from {table}")).scalar_one())
