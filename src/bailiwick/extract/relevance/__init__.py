"""A page's readable parts and a profile in; a relevance from 0 to 1 with its reason out."""

from bailiwick.extract.relevance.judge import LocalJudge, judge_for
from bailiwick.extract.relevance.subject import Subject

__all__ = ["LocalJudge", "Subject", "judge_for"]
