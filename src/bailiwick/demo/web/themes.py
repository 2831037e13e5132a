"""What the sites of the sample web are about. All of it is made up for this demonstration."""

from bailiwick.demo.web.prose import Theme


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split(", "))


FOOD_BANK = Theme(
    name="Riverside Food Bank",
    tagline="Good food for everyone in the valley who needs it.",
    sections=_words("visit, give, volunteer, recipes, reports"),
    subjects=_words(
        "fresh vegetables, the bread table, baby food, weekend parcels, the soup kitchen, school breakfasts, "
        "the delivery van, the cold store, tinned fruit, the community fridge, harvest collections"
    ),
    aspects=_words(
        "how to get some, how to help, what we need this month, a volunteer remembers, in numbers, "
        "questions we hear often, opening hours, thank you, plans for the winter"
    ),
    sentences=(
        "You need no letter and no appointment: come in on {day} and tell us how many people you cook for.",
        "{number} families took home a parcel last week, and nobody left with an empty bag.",
        "{subject} is the part of our work that neighbours ask about most.",
        "A volunteer shift lasts three hours, and there is always tea afterwards.",
        "Shops on the high street put aside what they cannot sell by {day}.",
        "We weigh everything that comes in, so we know that {subject} grew again this year.",
        "If you grow more beans than you can eat, we will gladly fetch them.",
        "Money helps, too, because a van does not run on good will.",
        "Drivers are wanted for {number} villages that no bus reaches in the evening.",
        "Please bring a bag, and take a recipe card from the box beside the door.",
        "The grant for {subject} runs until the end of the school year.",
    ),
)

LIBRARY = Theme(
    name="Millbrook Public Library",
    tagline="Books, quiet corners and a warm radiator since the railway came.",
    sections=_words("borrow, events, children, local-history, rooms"),
    subjects=_words(
        "the reading room, picture books, the map collection, large print, the sewing machine, audio books, "
        "the newspaper archive, the homework club, chess evenings, the seed shelf, the mobile library"
    ),
    aspects=_words(
        "what you can borrow, opening hours, for beginners, new this season, the rules, how it started, "
        "recommended by staff, book a place, lost and found, accessibility"
    ),
    sentences=(
        "A card is free for anyone who lives, works or simply spends a lot of time here.",
        "{subject} moved to the first floor, where the light is better.",
        "You may keep a book for {number} days and renew it as long as nobody else is waiting.",
        "Every {day} a librarian reads aloud, and grown-ups are allowed to listen.",
        "We stopped charging for late books, and more of them came back.",
        "{subject} holds {number} titles that no other branch in the county has.",
        "Ask at the desk: finding things is what we like best.",
        "The quiet rule ends at the glass door, beyond which you may laugh.",
        "Volunteers have described {number} photographs, and the rest are waiting for you.",
        "Bring your own cup and join us on {day} after closing time.",
    ),
)

MUSEUM = Theme(
    name="Museum of Everyday Things",
    tagline="Ordinary objects and the people who used them.",
    sections=_words("collection, exhibitions, learning, research, visit"),
    subjects=_words(
        "the bent spoon, a travelling typewriter, the enamel sign, seven clothes pegs, the school satchel, "
        "a bakelite radio, the milk churn, the blue teapot, a tin toy boat, the mangle, the tram ticket, "
        "the paper lantern, a mended bowl"
    ),
    aspects=_words(
        "object of the week, who made it, how it came to us, under the microscope, a closer look, "
        "for school classes, catalogue entry, conservation notes, on loan, the drawing, further reading"
    ),
    sentences=(
        "Nobody meant to keep {subject}, which is exactly why it tells us so much.",
        "The maker's mark is worn, but under raking light {number} letters can be read.",
        "It was found behind a cupboard on a {day} and brought to us in a shoe box.",
        "Our conservators cleaned {subject} with soft brushes and a great deal of patience.",
        "Entry is free on the first {day} of the month.",
        "Touch the copy, please, and leave the original to its glass case.",
        "{subject} was repaired at least {number} times, each time by another hand.",
        "The label says kitchen, and the scratches say workshop.",
        "A family from the harbour recognised it at once and told us the rest of the story.",
        "School classes draw {subject} first and only then hear what it was for.",
    ),
)

SHOP = Theme(
    name="Copper Kettle Tea and Tools",
    tagline="Things for the kitchen that will outlive the kitchen.",
    sections=_words("tea, kettles, knives, gifts, help"),
    subjects=_words(
        "smoked black tea, the two-litre kettle, mountain green tea, a bread knife, the paring knife, "
        "peppermint leaves, the cast iron pan, a linen towel, the tea strainer, an oak board, honey spoons"
    ),
    aspects=_words(
        "details, how to care for it, delivery and returns, gift wrapped, sizes, what customers say, "
        "spare parts, where it is made, on offer"
    ),
    sentences=(
        "{subject} costs {number}.50 pounds and is sent on the next working day.",
        "We repair what we sell, and often what others sold.",
        "{number} are in stock; more arrive on {day}.",
        "Rinse {subject} with hot water before its first use, and never put it into a dishwasher.",
        "The handle is turned from ash that grew within a day's walk of the workshop.",
        "If it does not suit you, send it back within {number} days.",
        "One spoonful a cup and three minutes are enough; five make it bitter.",
        "Customers who bought {subject} came back to tell us about it.",
        "Each piece is stamped with the month in which it was made.",
        "Our shop is open from {day} to Saturday, and the kettle is always on.",
    ),
)

NEWS = Theme(
    name="The Valley Courier",
    tagline="What happened between the two bridges, and why it matters.",
    sections=_words("local, business, weather, sport, culture, letters"),
    subjects=_words(
        "the new cycle path, bus line nine, the flood wall, the village school, the hill farm, the night market, "
        "the rowing club, the old cinema, the wind turbine, the parish council, the apple harvest, the swing bridge"
    ),
    aspects=_words(
        "what we know so far, a decision is near, residents speak, the figures, a correction, one year on, "
        "our view, in pictures, timetable, the background, what happens next"
    ),
    sentences=(
        "The council voted on {subject} late on {day}, by {number} votes to nine.",
        "Work on {subject} will begin once the swallows have left.",
        "Nobody was hurt, and the road was open again within {number} minutes.",
        "Residents say that they first heard of the plan from this newspaper.",
        "Rain is expected from {day} on, with a dry spell at the weekend.",
        "The budget foresees {number} thousand for {subject}, a little more than last year.",
        "A spokeswoman said that {subject} had never been meant to be permanent.",
        "The home side won by a narrow margin and a wide grin.",
        "Letters about {subject} reached us from three counties.",
        "We have asked the company for an answer and will print it here.",
        "An earlier version of this report gave the wrong {day}; we are sorry.",
    ),
)

BLOG = Theme(
    name="Slow Walks with Maps",
    tagline="One walker, one notebook, no hurry.",
    sections=_words("walks, notes, gear, maps"),
    subjects=_words(
        "the ridge path, a borrowed tent, the canal towpath, wet socks, the contour line, a thermos flask, "
        "the drove road, the last bus home, wild garlic, the footbridge"
    ),
    aspects=_words(
        "day one, day two, what I learned, a sketch, things I carried, the long way round, a reply to readers, "
        "revisited"
    ),
    sentences=(
        "I set out before six on a {day} and met nobody but sheep.",
        "The map shows {subject} as a dotted line, which is generous.",
        "After {number} kilometres I stopped counting and began to look.",
        "Somebody had left a chair at the best view, so I sat down.",
        "{subject} deserves a page of its own, and here it is.",
        "My boots needed {number} hours beside the stove to forgive me.",
        "If you go, go anticlockwise, and keep the wind behind you for the last part.",
        "A farmer explained {subject} to me over the gate and gave me two pears.",
        "I drew it twice, because the first drawing was of what I expected.",
    ),
)

CLUB = Theme(
    name="Members' Rowing Archive",
    tagline="For members only.",
    sections=_words("logbook, boats"),
    subjects=_words("the double scull, the boathouse, the regatta"),
    aspects=_words("notes, results"),
    sentences=("{subject} was put on the water on {day}, {number} strokes from the bank.", "See the logbook."),
)

FOUNDATION = Theme(
    name="Lantern Hill Foundation",
    tagline="Small grants for good ideas between the river and the sea.",
    sections=_words("news, projects, about, people"),
    subjects=_words(
        "the village bakery, a choir of nine schools, the bee meadow, the repair cafe, a boat for everyone, "
        "the night bus, stories of the harbour, the winter garden"
    ),
    aspects=_words("how it began, what the grant paid for, a visit, what came of it, in numbers, the people behind it"),
    sentences=(
        "{subject} got its first grant {number} weeks after somebody had the idea in a queue.",
        "Our board reads every application aloud on {day}, and nobody leaves before the last one.",
        "Of {number} applications we could fund eleven, and wrote a letter to all the others.",
        "The money paid for wood, paint and a great deal of soup.",
        "We visit each project once, bring cake, and ask what went wrong.",
        "{subject} stands on its own feet now, which is what a grant is for.",
        "A final report has two pages, one of which may be photographs.",
        "Whoever was refused may ask why, and most of them come back with a better plan.",
    ),
)
