"""The composition root: settings in, a ready App out. The only place that chooses back ends."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import Connection

from bailiwick.accounts import members
from bailiwick.base.clock import SystemClock
from bailiwick.base.errors import NotFoundError, PlaceError, UsageError
from bailiwick.base.place import Place, find_place
from bailiwick.base.retry import retrying
from bailiwick.base.settings import Loaded, Settings, load
from bailiwick.db.embedded.server import quiet
from bailiwick.db.engine import Database
from bailiwick.ledger import settings as kept_settings
from bailiwick.ledger.events import Actor
from bailiwick.model.names import DomainName
from bailiwick.model.profile_files import list_profiles
from bailiwick.model.profiles import Profile
from bailiwick.ports import BodyStore, LanguageModel, Notifier, SearchEngine, SearchIndex

if TYPE_CHECKING:
    from bailiwick.extract.parsers.facts import Survey
    from bailiwick.store.images import ImageFiles

T = TypeVar("T")
_PATIENCE_SECONDS = 90.0
"""A process that was stopped inside a transaction loses it, and its locks, after 60 seconds."""

SEARCH_ENGINES = {
    "searxng": "bailiwick.backends.engine_searxng:SearxngEngine",
    "tavily": "bailiwick.backends.engine_tavily:TavilyEngine",
    "perplexity": "bailiwick.backends.engine_perplexity:PerplexityEngine",
    "browserbase": "bailiwick.backends.engine_browserbase:BrowserbaseEngine",
    "brave": "bailiwick.backends.engine_brave:BraveEngine",
}
"""Services, by the name of their section of the settings."""


@dataclass
class App:
    """Everything that a command, a worker or a server needs, opened on use. Close it, or use it as a context."""

    place: Place
    bootstrap: Loaded
    say: Callable[[str], None] = quiet
    acting_as: str | None = None

    @classmethod
    def at(
        cls,
        start: Path,
        *,
        home: Path | None = None,
        say: Callable[[str], None] = quiet,
        acting_as: str | None = None,
    ) -> "App":
        """The App of the project at or above this directory. Opens nothing yet."""
        place = find_place(start, named=home)
        return cls(place, load(place.settings_file), say, acting_as)

    @cached_property
    def database(self) -> Database:
        """The database, started and with a schema that fits. Makes nothing: see `create`."""
        if self.bootstrap.tree.database.url is None and not self.place.exists:
            raise PlaceError(
                f"no Bailiwick data here: {self.place.data} does not exist",
                hint="bailiwick db upgrade makes it here; elsewhere: bailiwick --home DIR …",
            )
        database = self.unchecked_database
        before, after = database.ensure_schema()
        if before != after:
            self.say(f"schema brought from revision {before} to {after}")
        return database

    @cached_property
    def unchecked_database(self) -> Database:
        """The database as it is, whatever its schema."""
        return Database(self.place.data, self.bootstrap.tree, say=self.say)

    def create(self) -> "App":
        """Make the data directory if there is none yet, and say where."""
        if self.bootstrap.tree.database.url is None and self.place.create():
            self.say(f"new data directory: {self.place.data}")
        return self

    @cached_property
    def loaded(self) -> Loaded:
        """All settings, those in the database included."""
        with self.database.read() as conn:
            return load(self.place.settings_file, kept_settings.stored(conn))

    @property
    def settings(self) -> Settings:
        return self.loaded.tree

    @cached_property
    def body_store(self) -> BodyStore:
        """Where bodies are kept: packs in the project's directory."""
        from bailiwick.registry.workers import machine_id
        from bailiwick.store.packs import PackStore
        from bailiwick.store.shelf import Shelf

        return PackStore(Shelf(self.database, self.place.data / "packs", machine_id(), self.settings.storage))

    @cached_property
    def image_files(self) -> "ImageFiles":
        """Where images are kept: files in the project's directory."""
        from bailiwick.store.images import ImageFiles

        return ImageFiles(self.place.data / "images", copies=self.place.data / "cache" / "images")

    @cached_property
    def search_index(self) -> SearchIndex:
        """By what pages and items are found: the database itself."""
        from bailiwick.backends.index_postgres import PostgresSearchIndex

        return PostgresSearchIndex(self.database, language=self.settings.search.language)

    @cached_property
    def language_model(self) -> LanguageModel | None:
        """The model that the settings name; None: nobody is asked."""
        from bailiwick.backends.model_openai import open_model

        return open_model(self.settings.model)

    def search_engine(self, name: str) -> SearchEngine:
        """The engine of this name, `links` or `file:PATH`. Whoever asks for it closes it.

        NotFoundError if there is no such engine, SettingsError if it cannot be used as it is set.
        """
        kind, _, path = name.partition(":")
        if kind == "file":
            if not path:
                raise UsageError(
                    "the engine file needs a file", hint="--engine file:PATH, or file:- for standard input"
                )
            from bailiwick.backends.engine_file import FileEngine

            return FileEngine(path)
        if name == "links":
            from bailiwick.backends.engine_links import LinksEngine

            return LinksEngine(self.database)
        if name not in SEARCH_ENGINES:
            known = ", ".join(("links", *SEARCH_ENGINES, "file:PATH"))
            raise NotFoundError(f"there is no search engine {name!r}", hint=f"there are {known}")
        module, _, engine = SEARCH_ENGINES[name].partition(":")
        # Its section is read before the database is: environment or file only.
        opened: SearchEngine = getattr(import_module(module), engine)(getattr(self.bootstrap.tree, name))
        return opened

    def notifier(self) -> Notifier:
        """Who tells people, by the settings as they are now. Whoever asks for it closes it."""
        from bailiwick.backends.notifier_apprise import AppriseNotifier
        from bailiwick.backends.notifier_webhook import Webhook
        from bailiwick.net.guard import Guard

        with self.database.read() as conn:  # read anew: a worker lives longer than a webhook's address may
            settings = load(self.place.settings_file, kept_settings.stored(conn)).tree
        # Of the mail server and further services the operator alone has a say: not the database.
        net, notify, url = settings.net, self.bootstrap.tree.notify, settings.review.notifications.slack_webhook_url
        if url is None:
            return AppriseNotifier(notify, net, None)
        guard, seconds = Guard(allow_private=net.allow_private_networks), notify.timeout_seconds
        return AppriseNotifier(notify, net, Webhook(url.get_secret_value(), net, guard=guard, timeout_seconds=seconds))

    def profiles(self) -> dict[str, Profile]:
        """The profiles that can be read, by name."""
        found = list_profiles(self.place.profiles)
        return {listed.name: listed.profile for listed in found if listed.profile is not None}

    def profile_marks(self) -> dict[str, int]:
        """What tells a profile from what it was, by name."""
        return {name: profile.mark for name, profile in self.profiles().items()}

    def image_profiles(self) -> list[str]:
        """Profiles that fetch images, if the library that reads them is here."""
        from bailiwick.crawl.images.reader import is_available

        return [name for name, profile in self.profiles().items() if profile.images.download] if is_available() else []

    @cached_property
    def site_parsers(self) -> "Survey":
        """The page objects of the project and of installed packages; says which cannot be used, once."""
        from bailiwick.extract.parsers.survey import survey

        found = survey(self.place.parsers)
        for fault in found.faults:
            self.say(f"a site parser cannot be loaded: {fault}")
        for parser in found.parsers:
            if parser.refused is not None:
                self.say(f"the site parser {parser.name} is not used: {parser.refused}")
        return found

    def say_what_is_missing(self) -> None:
        """Of the libraries that parsing makes use of."""
        from bailiwick.extract.extras import has_content, has_items

        if not has_content():
            self.say('no markdown, and relevance by keywords alone: pip install "bailiwick[content]" adds the rest')
        if not has_items():
            self.say('no items but articles: pip install "bailiwick[items]" adds products, contacts and the rest')

    def domain_name(self, given: str) -> DomainName:
        """The domain that a person means, by the settings for names. NameRefusedError if it may not be one."""
        names = self.settings.names
        return DomainName.parse(given, allow_private=names.allow_private, collapse_subdomains=names.collapse_subdomains)

    def actor(self, conn: Connection) -> Actor:
        """The member in whose name this process acts."""
        return members.find(conn, self.acting_as) if self.acting_as else members.local_admin(conn)

    def patiently(self, work: Callable[[], T]) -> T:
        """Do what needs the database and may be repeated; while that is away or busy, wait so long at most and say so.

        For workers: they start when the database restarts, or while somebody holds a lock that he is slow to give back.
        """
        return retrying(work, clock=SystemClock(), limit_seconds=_PATIENCE_SECONDS, say=self.say)

    def close(self) -> None:
        if "body_store" in self.__dict__:
            self.body_store.close()
        if self.__dict__.get("language_model") is not None:
            self.__dict__["language_model"].close()
        if "search_index" in self.__dict__:
            self.search_index.close()
        if "unchecked_database" in self.__dict__:
            self.unchecked_database.close()

    def __enter__(self) -> "App":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
