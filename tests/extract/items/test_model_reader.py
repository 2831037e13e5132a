"""Items by a language model: the form asked for, what is remembered and believed, what stays without an answer."""

import json
from collections.abc import Iterator
from contextlib import closing
from hashlib import blake2b
from typing import Any

import pytest
from sqlalchemy import select

from bailiwick.backends.model_openai import OpenAIModel, open_model
from bailiwick.base.clock import FakeClock
from bailiwick.db.engine import Database
from bailiwick.db.tables import model_calls
from bailiwick.evidence.asking import Budget
from bailiwick.extract.items.model_reader import ModelReader
from bailiwick.extract.page import Extracted
from bailiwick.model.content import Content, ContentKind, Relevance, RelevanceSource
from bailiwick.model.items import Item, ItemKind
from bailiwick.model.profile_files import load_profile
from bailiwick.model.profiles import ModelPolicy, ModelReading, Profile
from tests.backends.model_server import KEY, KEY_NAME, ModelServer, completion, fault, model_server

URL = "https://fund.org/grant"
FUNDING = load_profile("funding", None)
RELEVANT = Relevance(0.8, is_relevant=True, reason="names grant", source=RelevanceSource.MEANING)
TEXT = "The Oak Fund gives up to 5,000 euros to choirs. Write to jo@oakfund.org before 1 May 2027."
FOUND = {
    "funding_programme": [
        {
            "name": "Oak Fund",
            "organisation": "Oak Trust",
            "amountMax": "5000",
            "currency": "EUR",
            "deadline": "2027-05-01",
        }
    ]
}
RULES = Item(
    ItemKind.FUNDING_PROGRAMME, 0, {"url": URL, "name": "The Oak Fund", "amountMax": "5000"}, 0.8, "funding", 1
)


def asking(use: ModelReading, *, extractors: tuple[ItemKind, ...] = (ItemKind.FUNDING_PROGRAMME,)) -> Profile:
    return FUNDING.model_copy(update={"model": ModelPolicy(extract=use), "extractors": extractors})


def page(*items: Item, relevance: Relevance | None = RELEVANT) -> Extracted:
    digest = blake2b(TEXT.encode(), digest_size=16).digest()
    content = Content(ContentKind.HTML, TEXT, len(TEXT.split()), digest, 0, title="Oak Fund")
    return Extracted(content, relevance, None, list(items))


def answer(given: dict[str, Any]) -> Any:
    return completion(json.dumps(given))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setenv(KEY_NAME, KEY)
    with model_server() as serving:
        serving.says = [answer(FOUND)]
        yield serving


@pytest.fixture
def model(server: ModelServer) -> Iterator[OpenAIModel]:
    opened = open_model(server.settings(max_retries=0))
    assert opened is not None
    with closing(opened):
        yield opened


def reader(
    database: Database, server: ModelServer, model: OpenAIModel, profile: Profile, **changed: object
) -> ModelReader:
    return ModelReader(profile, model, Budget.of(server.settings(**changed)), begin=database.begin, clock=FakeClock())


def test_it_gives_what_the_rules_did_not_find(database: Database, server: ModelServer, model: OpenAIModel) -> None:
    [item] = reader(database, server, model, asking(ModelReading.MISSING)).read(page(), URL).items
    assert item.data == FOUND["funding_programme"][0] | {"url": URL}
    assert (item.extractor, item.confidence) == ("model:small", 0.6)
    [asked] = server.requests
    form = asked["response_format"]["json_schema"]["schema"]
    part = form["$defs"]["FundingProgrammeItem"]
    assert part["additionalProperties"] is False
    assert set(part["required"]) == set(part["properties"])
    assert "url" not in part["properties"]
    assert "pattern" not in json.dumps(form)
    assert TEXT in asked["messages"][1]["content"]


def test_the_same_content_is_asked_once(database: Database, server: ModelServer, model: OpenAIModel) -> None:
    first = reader(database, server, model, asking(ModelReading.ALWAYS)).read(page(), URL)
    again = reader(database, server, model, asking(ModelReading.ALWAYS)).read(page(), URL)
    assert first.items == again.items
    assert len(server.requests) == 1
    with database.read() as conn:
        [row] = conn.execute(select(model_calls))
    assert (row.purpose, row.outcome, row.tokens_in) == ("items:funding", "answered", 100)


def test_missing_fields_are_filled_and_those_of_the_rules_stay(
    database: Database, server: ModelServer, model: OpenAIModel
) -> None:
    [item] = reader(database, server, model, asking(ModelReading.MISSING)).read(page(RULES), URL).items
    assert item.data["name"] == "The Oak Fund"
    assert item.data["organisation"] == "Oak Trust"
    assert (item.extractor, item.fields["organisation"]) == ("funding", 0.6)


def test_always_puts_it_in_the_place_of_the_rules(database: Database, server: ModelServer, model: OpenAIModel) -> None:
    [item] = reader(database, server, model, asking(ModelReading.ALWAYS)).read(page(RULES), URL).items
    assert item.data["name"] == "Oak Fund"


@pytest.mark.parametrize(
    ("use", "found"),
    [
        (ModelReading.OFF, page()),
        (ModelReading.ALWAYS, page(relevance=None)),
        (ModelReading.ALWAYS, page(relevance=Relevance(0.1, False, "no", RelevanceSource.MEANING))),
        (
            ModelReading.MISSING,
            page(
                Item(
                    ItemKind.FUNDING_PROGRAMME,
                    0,
                    {"organisation": "a", "amountMax": "1", "eligibility": "all"},
                    1,
                    "x",
                    1,
                )
            ),
        ),
    ],
)
def test_nothing_is_asked_for_nothing(
    database: Database, server: ModelServer, model: OpenAIModel, use: ModelReading, found: Extracted
) -> None:
    assert reader(database, server, model, asking(use)).read(found, URL) is found
    assert server.requests == []


@pytest.mark.parametrize(
    "said",
    [
        fault(500),
        fault(429),
        completion("no JSON"),
        completion('{"funding_programme": [{"deadline": "soon"}]}'),
        completion(None, refusal="no"),
    ],
)
def test_without_an_answer_the_rules_stand(
    database: Database, server: ModelServer, model: OpenAIModel, said: Any
) -> None:
    server.says = [said]
    found = page(RULES)
    assert reader(database, server, model, asking(ModelReading.ALWAYS)).read(found, URL) == found


def test_the_days_budget_holds(database: Database, server: ModelServer, model: OpenAIModel) -> None:
    found = page(RULES)
    poor = reader(database, server, model, asking(ModelReading.ALWAYS), max_tokens_per_day=1_000)
    assert poor.read(found, URL) is found
    assert server.requests == []


def test_who_can_be_reached_is_not_made_up(database: Database, server: ModelServer, model: OpenAIModel) -> None:
    server.says = [
        answer(
            {
                "contact": [
                    {"email": "jo@oakfund.org", "name": "Jo"},
                    {"email": "made@up.org"},
                    {"telephone": "+4930123456"},
                ]
            }
        )
    ]
    profile = asking(ModelReading.ALWAYS, extractors=(ItemKind.CONTACT,))
    found = reader(database, server, model, profile).read(page(), URL)
    assert [item.data.get("email") for item in found.items] == ["jo@oakfund.org"]
    assert {reject.value for reject in found.rejects if reject.field} == {"made@up.org", "+4930123456"}


def test_a_page_cannot_give_orders(database: Database, server: ModelServer, model: OpenAIModel) -> None:
    reader(database, server, model, asking(ModelReading.ALWAYS)).read(page(), URL)
    told, material = (message["content"] for message in server.requests[0]["messages"])
    mark = material.split("\n")[0]
    assert mark in told
    assert material.endswith(mark)
