"""HTML for people. In: requests of browsers; out: pages, answers to forms, live fragments. Verbs as everywhere."""

PORT = 8300
