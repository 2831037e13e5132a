"""A page and what is known around it in; four signals of sophistication out: measured, or said by a language model."""

from bailiwick.score.sophistication.local import LOCAL, assess_locally
from bailiwick.score.sophistication.model import ask_model
from bailiwick.score.sophistication.prompt import PROMPT_VERSION
from bailiwick.score.sophistication.result import Sophistication

__all__ = ["LOCAL", "PROMPT_VERSION", "Sophistication", "ask_model", "assess_locally"]
