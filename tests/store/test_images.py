"""Files of images: whole or not there, one a content, swept when no page refers to them."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

from bailiwick.db.engine import Database
from bailiwick.store.image_upkeep import image_status, sweep_images, verify_images
from bailiwick.store.images import ImageFiles

HOUR = 3600.0


def digest(data: bytes) -> bytes:
    return sha256(data).digest()


def put(files: ImageFiles, database: Database, data: bytes, *, sighted: bool) -> str:
    """Stored, with its rows as a crawl writes them, a day ago."""
    path = files.put(data, digest(data), "png")
    with database.begin() as conn:
        conn.exec_driver_sql(
            "insert into images (sha256, path, machine, mime, file_size, created_at) "
            "values (%(d)s, %(p)s, 'here', 'image/png', %(n)s, now() - interval '2 days')",
            {"d": digest(data), "p": path, "n": len(data)},
        )
        number = int.from_bytes(digest(data)[:4], "big")
        conn.exec_driver_sql(
            "insert into image_fetches (domain_id, url_hash, url, is_own, outcome, image_id, next_at, found_at) "
            "select 1, %(h)s, 'u', true, 'stored', id, null, now() - interval '2 days' from images "
            "where sha256 = %(d)s",
            {"h": number, "d": digest(data)},
        )
        if sighted:
            conn.exec_driver_sql(
                "insert into image_sightings (domain_id, path_hash, url_hash, nth, position, url, image_type, "
                "found_in, image_id, discovery_type) select 1, 1, %(h)s, 0, 0, 'u', 'gallery', 'src', id, 'discovery' "
                "from images where sha256 = %(d)s",
                {"h": number, "d": digest(data)},
            )
    age(files.directory / path)
    return path


def age(path: Path, seconds: float = 48 * HOUR) -> None:
    os.utime(path, (time.time() - seconds,) * 2)


def test_one_file_a_content(tmp_path: Path) -> None:
    files = ImageFiles(tmp_path / "images")
    path = files.put(b"one", digest(b"one"), "png")
    assert files.put(b"one", digest(b"one"), "png") == path
    assert files.get(path) == b"one"
    assert [file.digest for file in files.files()] == [digest(b"one")]
    assert files.get("../../etc/passwd") is None
    assert files.get("aa/missing.png") is None
    assert oct((tmp_path / "images" / path).stat().st_mode & 0o777) == "0o600"


def test_many_writers_of_one_content(tmp_path: Path) -> None:
    files = ImageFiles(tmp_path / "images")
    data = b"x" * 500_000
    with ThreadPoolExecutor(8) as threads:
        paths = list(threads.map(lambda _: files.put(data, digest(data), "png"), range(40)))
    assert len(set(paths)) == 1
    assert files.is_sound(paths[0], digest(data))
    assert len(list((tmp_path / "images" / paths[0][:2]).iterdir())) == 1, "parts were left behind"


def test_a_torn_file_is_written_anew(tmp_path: Path) -> None:
    files = ImageFiles(tmp_path / "images")
    path = files.put(b"whole", digest(b"whole"), "png")
    (tmp_path / "images" / path).write_bytes(b"who")
    files.put(b"whole", digest(b"whole"), "png")
    assert files.get(path) == b"whole"


def test_verify_tells_what_is_wrong(tmp_path: Path, database: Database) -> None:
    files = ImageFiles(tmp_path / "images")
    put(files, database, b"good", sighted=True)
    (files.directory / put(files, database, b"bad", sighted=True)).write_bytes(b"bed")
    (files.directory / put(files, database, b"gone", sighted=True)).unlink()
    [tally] = verify_images(database, files, machine="here")
    assert (tally.checked, tally.damaged, tally.missing, tally.is_sound) == (3, 1, 1, False)
    [elsewhere] = verify_images(database, files, machine="there")
    assert (elsewhere.missing, elsewhere.elsewhere) == (0, 1)


def test_sweep_removes_what_no_page_shows(tmp_path: Path, database: Database) -> None:
    files = ImageFiles(tmp_path / "images")
    kept = put(files, database, b"kept", sighted=True)
    dead = put(files, database, b"dead", sighted=False)
    orphan = files.put(b"orphan", digest(b"orphan"), "png")
    age(files.directory / orphan)
    young = files.put(b"young", digest(b"young"), "png")
    with database.read() as conn:
        assert image_status(conn, files).image_orphans == 2
    dry = sweep_images(database, files, age_seconds=24 * HOUR, is_dry=True)
    assert (dry.addresses, dry.images, dry.files) == (1, 1, 1)
    assert (files.directory / dead).exists()
    swept = sweep_images(database, files, age_seconds=24 * HOUR)
    assert (swept.addresses, swept.images, swept.files, swept.young) == (1, 1, 2, 1)
    assert {path for path in (kept, dead, orphan, young) if (files.directory / path).exists()} == {kept, young}
    again = sweep_images(database, files, age_seconds=24 * HOUR)
    assert (again.images, again.files) == (0, 0)


def test_a_directory_of_another_database_is_left_alone(tmp_path: Path, database: Database) -> None:
    files = ImageFiles(tmp_path / "images")
    for data in (b"a", b"b"):
        age(files.directory / files.put(data, digest(data), "png"))
    swept = sweep_images(database, files, age_seconds=24 * HOUR)
    assert (swept.files, swept.foreign) == (0, 2)
    assert len(list(files.files())) == 2


def test_a_file_that_is_stored_again_is_not_swept_from_under_it(tmp_path: Path) -> None:
    files = ImageFiles(tmp_path / "images")
    path = files.put(b"a", digest(b"a"), "png")
    age(files.directory / path)
    files.put(b"a", digest(b"a"), "png")
    assert not files.remove(files.directory / path, older_than_seconds=24 * HOUR)
    assert files.get(path) == b"a"
