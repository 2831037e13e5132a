"""Links found on a domain's pages in; the name of the rule that keeps one from becoming a page, or none, out.

    patterns    what the operator includes and excludes
    guard       TrapGuard: asks the rules below in order, keeps what they know, survives as JSON
    shapes      what a path says about itself: directory, session token, date, parameters
    sessions, calendars, facets, mirrors, families    one trap each
    memory      what was seen, in bounded room: a forgetful set and the tallies of families

All of it is pure: no I/O, no clock (the guard is told the day), no randomness.

What tells a trap from a site? A trap's pages come from its own pages: a calendar month is found on another month. So
what is found on a page of another kind is taken on its word ("vouched"), and only what a family finds by itself is
budgeted. And its pages bring nothing: so every budget grows with what a family yields (new text, or links to pages
that are not its own). Whatever is forgotten for want of room leads to a page too many, not to one too few.
"""
