"""The web interface without a socket: a site on a database of its own, and browsers that visit it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from httpx import ASGITransport, AsyncClient, Cookies, Response
from sqlalchemy import text
from starlette.routing import Route
from starlette.types import ASGIApp

from bailiwick.accounts import passwords, sessions
from bailiwick.accounts.links import set_password
from bailiwick.app import App
from bailiwick.ledger.events import Actor
from bailiwick.model.states import Role
from bailiwick.web import forgery
from bailiwick.web.site import Serving, Site, _add_routes, make_site
from tests.ledger.tools import make_member
from tests.registry.tools import admit

HOST = "127.0.0.1"
PASSWORD = "correct horse battery"
ROLES = (Role.SUBMITTER, Role.VIEWER, Role.REVIEWER, Role.ADMIN)


class Browser:
    """One browser: its cookies, its address; it does not go on by itself."""

    def __init__(self, asgi: ASGIApp, runner: asyncio.Runner, *, address: str = HOST, scheme: str = "http") -> None:
        way = ASGITransport(asgi, raise_app_exceptions=False, client=(address, 50000))
        self._client = AsyncClient(transport=way, base_url=f"{scheme}://{HOST}")
        self._runner = runner

    @property
    def cookies(self) -> Cookies:
        return self._client.cookies

    def request(self, method: str, path: str, **more: Any) -> Response:
        return self._runner.run(self._client.request(method, path, **more))

    def get(self, path: str, **more: Any) -> Response:
        return self.request("GET", path, **more)

    def post(self, path: str, **more: Any) -> Response:
        return self.request("POST", path, **more)

    @property
    def word(self) -> str:
        """The word that our pages have in their forms for this browser."""
        secret = self.cookies.get("bailiwick") or self.cookies.get("bailiwick-form")
        if secret is None:
            self.get("/login")
            secret = self.cookies["bailiwick-form"]
        return forgery.masked(secret)

    def send(self, path: str, /, **fields: object) -> Response:
        """A form as a page of ours would send it."""
        return self.post(path, data={"word": self.word, **{name: str(value) for name, value in fields.items()}})

    def log_in(self, name: str, password: str = PASSWORD, **more: str) -> Response:
        return self.send("/login", name=name, password=password, **more)


@dataclass
class Land:
    """One site and its members, one for each role and called like it."""

    app: App
    site: Site
    asgi: ASGIApp
    runner: asyncio.Runner
    members: dict[str, Actor] = field(default_factory=dict)

    def browser(self, name: str | None = None, *, address: str = HOST, scheme: str = "http") -> Browser:
        """A browser; of a member, one that is logged in."""
        made = Browser(self.asgi, self.runner, address=address, scheme=scheme)
        if name is not None:
            with self.app.database.begin() as conn:
                opened = sessions.open_session(conn, self.member(name), device=None, user_agent="t", address=address)
            made.cookies.set("__Host-bailiwick" if scheme == "https" else "bailiwick", opened.token, domain=HOST)
        return made

    def member(self, name: str, role: Role = Role.SUBMITTER) -> Actor:
        """The member of this name; made if it is new."""
        if name not in self.members:
            with self.app.database.begin() as conn:
                self.members[name] = made = make_member(conn, name, role)
                set_password(conn, made, PASSWORD)
        return self.members[name]

    def admitted(self, *names: str) -> None:
        with self.app.database.begin() as conn:
            admit(conn, *names)

    def do(self, sql: str, **parameters: object) -> list[Any]:
        """Look, or change something behind everybody's back."""
        with self.app.database.begin() as conn:
            conn.execute(text("set local session_replication_role = replica"))  # no move is checked
            done = conn.execute(text(sql), parameters)
            return list(done.all()) if done.returns_rows else []

    def insert(self, table: str, /, **columns: object) -> None:
        """One row, as it is."""
        names, values = ", ".join(columns), ", ".join(f":{name}" for name in columns)
        self.do(f"insert into {table} ({names}) values ({values})", **columns)

    def change(self, name: str, /, **columns: object) -> None:
        """This domain's row, whatever its moves."""
        changed = ", ".join(f"{column} = :{column}" for column in columns)
        self.do(f"update domains set {changed} where name = :known_as", known_as=name, **columns)

    def value(self, sql: str, **parameters: object) -> Any:
        [[found]] = self.do(sql, **parameters)
        return found

    def state(self) -> list[Any]:
        """All that a refused request must not change."""
        return self.do("""
            select (select count(*) from events), (select sum(version) from domains), (select count(*) from domains),
                   (select count(*) from members), (select sum(version) from members),
                   (select string_agg(coalesce(password_hash, ''), ',' order by id) from members),
                   (select count(*) from sessions where ended_at is null), (select count(*) from one_time_links)""")

    def routes(self, method: str) -> list[str]:
        """The paths of all routes for this method, as they are written."""
        made = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
        _add_routes(made)
        parts = [getattr(route, "original_router", None) for route in made.routes]
        single = [*made.routes, *(route for part in parts if part is not None for route in part.routes)]
        return [route.path for route in single if isinstance(route, Route) and method in (route.methods or ())]

    def version(self, name: str) -> int:
        return int(self.value("select version from domains where name = :name", name=name))


@contextmanager
def land_at(root: Path, url: str, **web: object) -> Iterator[Land]:
    """A land whose settings file says this of the section `web`."""
    said = "\n".join(f"{name} = {str(value).lower()}" for name, value in web.items())
    (root / "bailiwick.toml").write_text(f'[database]\nurl = "{url}"\n[web]\n{said}\n')
    with App.at(root) as app, asyncio.Runner() as runner:
        site = Site(app, Serving())
        land = Land(app, site, make_site(site), runner)
        for role in ROLES:
            land.member(role, role)
        yield land


@contextmanager
def cheap_passwords() -> Iterator[None]:
    """The same hash with the least work: nothing of what is tested depends on its cost."""
    from argon2 import PasswordHasher

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_hasher", cache(lambda: PasswordHasher(1, 8, 1)))
        passwords._nobodys.cache_clear()
        yield
    passwords._nobodys.cache_clear()
