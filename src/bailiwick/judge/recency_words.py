"""Words that say a call is over, is open, or that its money went to somebody already."""

CLOSED = (
    "closed", "expired", "deadline passed", "deadline has passed", "window has passed", "has passed", "have passed",
    "has ended", "have ended", "is over", "has concluded", "concluded", "discontinued", "fully subscribed",
    "fully allocated", "have been allocated", "no longer accepting", "no longer accept", "no longer available",
    "no longer open", "not currently accepting", "not accepting applications", "stopped taking applications",
    "applications were due", "were accepted until", "has been exhausted", "wound up", "archived", "archive",
    "submissions paused", "completed", "bewerbungsfrist abgelaufen", "abgelaufen", "nicht mehr möglich", "beendet",
    "geschlossen", "appel clos", "clos", "clôturé", "clôturée", "cerrada", "cerrado", "plazo finalizado", "finalizó",
    "chiuso", "scaduto", "scaduta", "encerrado", "encerrada", "encerradas", "gesloten", "verlopen", "zakończony",
    "zakończone", "ukončená", "uzavřena", "закрыт", "завершен", "avslutad", "lukket",
)  # fmt: skip
OPEN = (
    "now open", "currently open", "open now", "applications are open", "nominations are open", "is open for",
    "are open for", "accepting applications", "rolling", "rolling basis", "all year round", "open all year",
    "no deadline",
    "of the month", "of each month", "every month", "twice a year", "at any time", "invited to apply",
    "we invite applications", "call is open", "jetzt bewerben",
    "bewerbungen sind möglich", "laufend möglich", "appel ouvert", "candidatures ouvertes", "convocatoria abierta",
    "plazo abierto", "bando aperto", "inscrições abertas", "nabór otwarty", "öppen för ansökan",
)  # fmt: skip
_AUXILIARIES = ("has", "have", "was", "were", "been", "be")
_PARTICIPLES = ("awarded", "received", "secured", "won", "chosen", "announced", "funded")
GIVEN = (
    *(f"{auxiliary} {participle}" for auxiliary in _AUXILIARIES[:5] for participle in _PARTICIPLES),
    "will receive", "to receive", "were selected", "was selected", "were picked", "will share", "recipients",
    "recipient", "awardees", "grantees", "winners", "laureates", "were recognized",
    "thanks to a grant", "supported by a grant", "under grant agreement", "has received funding", "was supported by",
    "verliehen", "erhielt", "erhält", "übergibt", "lauréats", "ganadores", "vincitori", "premiados", "entrega",
)  # fmt: skip
HEADLINE_VERBS = frozenset(
    (
        "receives", "received", "receive", "wins", "won", "lands", "secures", "secured", "awarded", "gets", "get",
        "handed", "selects", "raises", "raised", "closes", "announces", "announced", "hits", "goes", "joins", "named",
        "blocks", "stalls", "sentenced", "shares", "earns", "nets", "bags", "scores", "celebrates", "unveils",
    )
)  # fmt: skip
