"""`LanguageModel` by the official `openai` SDK: any endpoint that speaks chat completions with structured output."""

import time
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field, ValidationError

from bailiwick.base.errors import SettingsError
from bailiwick.base.sections import FromEnvironment, ModelSettings
from bailiwick.ports import Answer, ModelOutcome, ModelQuestion, ModelReply

if TYPE_CHECKING:
    from openai import APIError, OpenAI

# How long nothing further is asked, by what went wrong. A page waits for each question.
_PAUSE_GONE, _PAUSE_BUSY, _PAUSE_REFUSED = 30.0, 60.0, 600.0
_LONGEST_PAUSE = 3600.0


def open_model(settings: ModelSettings) -> "OpenAIModel | None":
    """The model of the settings; None where none is set up. SettingsError if it cannot be used as it is set."""
    if settings.base_url is None:
        return None
    if not settings.name:
        raise SettingsError("model.base_url is set, model.name is not", hint="BAILIWICK_MODEL_NAME=…")
    try:
        import openai
    except ImportError:
        raise SettingsError(
            "model.base_url is set, but the openai library is not installed",
            hint='pip install "bailiwick[model]"',
        ) from None
    key = FromEnvironment(env=settings.api_key_env).read() if settings.api_key_env else "none"
    client = openai.OpenAI(
        base_url=settings.base_url,
        api_key=key,
        timeout=settings.timeout_seconds,
        max_retries=settings.max_retries,  # the SDK waits as Retry-After says, a minute at most
        # Redirects are not followed: the operator named this endpoint and no other.
        http_client=openai.DefaultHttpxClient(follow_redirects=False, timeout=settings.timeout_seconds),
    )
    return OpenAIModel(client, settings)


class OpenAIModel:
    """One endpoint and one model."""

    def __init__(self, client: "OpenAI", settings: ModelSettings) -> None:
        self._client, self._settings = client, settings
        self._turns = BoundedSemaphore(settings.concurrency)

    @property
    def name(self) -> str:
        return self._settings.name

    def ask(self, question: ModelQuestion[Answer]) -> ModelReply[Answer]:
        import openai

        with self._turns:
            start = time.monotonic()
            try:
                completion = _Completion.model_validate_json(self._complete(question))
            except openai.APIError as error:
                return self._failed(error, _since(start))
            except ValidationError:
                why = "the model's server does not answer as one of its kind does"
                return ModelReply(ModelOutcome.FAILED, None, why, milliseconds=_since(start), pause_seconds=_PAUSE_GONE)
            return _reply(question.form, completion, _since(start))

    def close(self) -> None:
        self._client.close()

    def _complete(self, question: ModelQuestion[Answer]) -> bytes:
        """The body of the answer. Unparsed: the SDK takes whatever comes for a completion."""
        raw = self._client.chat.completions.with_raw_response.create(
            model=self.name,
            messages=[
                {"role": "system", "content": question.instructions},
                {"role": "user", "content": question.material},
            ],
            response_format={
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": strict_schema(question.form)},
            },
            max_completion_tokens=question.max_output_tokens,
        )
        return raw.content

    def _failed(self, error: "APIError", milliseconds: int) -> ModelReply[Any]:
        """A vendor's error, mapped once. Its own words are left out: an endpoint may repeat what it was sent."""
        import openai

        why, pause = "the model cannot be reached", _PAUSE_GONE
        if isinstance(error, openai.APITimeoutError):
            why = f"the model did not answer in {self._settings.timeout_seconds:g} s"
        elif isinstance(error, openai.RateLimitError):
            why, pause = "the model's rate limit is reached (429)", _asked_pause(error)
        elif isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
            shown = self._settings.api_key_env or "model.api_key_env, which is not set"
            why, pause = f"the model refused the key of {shown} ({error.status_code})", _PAUSE_REFUSED
        elif isinstance(error, openai.APIStatusError):
            why = f"the model's server answered {error.status_code}"
            pause = _PAUSE_GONE if error.status_code >= 500 else 0.0
        return ModelReply(ModelOutcome.FAILED, why=why, milliseconds=milliseconds, pause_seconds=pause)


_UNHEARD = ("default", "title", "minLength", "maxLength", "pattern", "format", "minItems", "maxItems")
"""Words of JSON Schema that strict output does not know everywhere. The answer is validated by its form in any case."""


def strict_schema(form: type[BaseModel]) -> dict[str, Any]:
    """The schema of a form as strict output wants it: every field is there, if only as null, and no other is."""
    schema = form.model_json_schema()
    waiting: list[Any] = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            names = part.get("properties")
            if isinstance(names, dict) and part.get("type") == "object":
                part["required"], part["additionalProperties"] = list(names), False
                waiting += names.values()
            for word in _UNHEARD:
                part.pop(word, None)
            waiting += [part[word] for word in ("items", "anyOf", "allOf") if word in part]
            waiting += list(part.get("$defs", {}).values())
    return schema


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: int = Field(0, ge=0)
    completion_tokens: int = Field(0, ge=0)


class _Completion(BaseModel):
    """The part of a chat completion that is read. Servers that are compatible differ in the rest."""

    choices: list[_Choice]
    usage: _Usage | None = None


def _reply(form: type[Answer], completion: _Completion, milliseconds: int) -> ModelReply[Answer]:
    usage = completion.usage
    tokens_in, tokens_out = (usage.prompt_tokens, usage.completion_tokens) if usage else (0, 0)

    def reply(outcome: ModelOutcome, why: str = "", answer: Answer | None = None) -> ModelReply[Answer]:
        return ModelReply(outcome, answer, why, tokens_in, tokens_out, milliseconds)

    choice = completion.choices[0] if completion.choices else None
    if choice is None:
        return reply(ModelOutcome.INVALID, "the model gave no answer")
    if choice.message.refusal or choice.finish_reason == "content_filter":
        return reply(ModelOutcome.REFUSED, "the model would not answer")
    if choice.finish_reason == "length":
        return reply(ModelOutcome.INVALID, "the model's answer was cut off")
    try:
        return reply(ModelOutcome.ANSWERED, answer=form.model_validate_json(choice.message.content or ""))
    except ValidationError:
        return reply(ModelOutcome.INVALID, "the model's answer is not of the asked form")


def _asked_pause(error: "APIError") -> float:
    """What Retry-After says in seconds, within reason."""
    response = getattr(error, "response", None)
    try:
        asked = float(response.headers.get("retry-after", "")) if response is not None else _PAUSE_BUSY
    except ValueError:
        return _PAUSE_BUSY
    return min(max(asked, 0.0), _LONGEST_PAUSE)


def _since(start: float) -> int:
    return round((time.monotonic() - start) * 1000)
