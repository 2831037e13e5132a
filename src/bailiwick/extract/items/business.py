"""Businesses: places with a name, an address, a number to call and hours, of their own page or of a directory."""

import re
from urllib.parse import urlsplit

from bailiwick.extract.addresses import absolute
from bailiwick.extract.items.addresses import PostalAddress
from bailiwick.extract.items.checked import Maker, checked
from bailiwick.extract.items.evidence import LABELLED, MARKUP, SEEN, Values
from bailiwick.extract.items.hours import Opening, as_items, day_number, find_hours, read_compact
from bailiwick.extract.items.lines import Zone
from bailiwick.extract.items.page_facts import address_of
from bailiwick.extract.items.phones import e164
from bailiwick.extract.items.source import Source
from bailiwick.extract.structured import Thing, everything_in
from bailiwick.model.items import Gathered, ItemKind

MAKER = Maker("business", 1)
_TYPES_TEXT = """
    LocalBusiness AnimalShelter ArchiveOrganization AutomotiveBusiness AutoRepair AutoDealer ChildCare Dentist
    DryCleaningOrLaundry EmergencyService EmploymentAgency EntertainmentBusiness FinancialService
    BankOrCreditUnion AccountingService FoodEstablishment Bakery BarOrPub Brewery CafeOrCoffeeShop
    FastFoodRestaurant IceCreamShop Restaurant Winery HealthAndBeautyBusiness BeautySalon DaySpa HairSalon
    HealthClub NailSalon TattooParlor HomeAndConstructionBusiness Electrician GeneralContractor HVACBusiness
    HousePainter Locksmith MovingCompany Plumber RoofingContractor InternetCafe LegalService Attorney Notary
    Library LodgingBusiness BedAndBreakfast Campground Hostel Hotel Motel Resort MedicalBusiness MedicalClinic
    Optician Pharmacy Physician Physiotherapy Hospital ProfessionalService RadioStation RealEstateAgent
    RecyclingCenter SelfStorage ShoppingCenter SportsActivityLocation ExerciseGym GolfCourse SportsClub Store
    BikeStore BookStore ClothingStore ComputerStore ConvenienceStore DepartmentStore ElectronicsStore Florist
    FurnitureStore GardenStore GroceryStore HardwareStore HobbyShop HomeGoodsStore JewelryStore LiquorStore
    MensClothingStore MobilePhoneStore MovieRentalStore MusicStore OfficeEquipmentStore OutletStore PawnShop
    PetStore ShoeStore SportingGoodsStore TireShop ToyStore WholesaleStore TelevisionStation
    TouristInformationCenter TravelAgency VeterinaryCare Museum ArtGallery MovieTheater NightClub AmusementPark
    GasStation TouristAttraction Zoo Aquarium PerformingArtsTheater
"""
_TYPES = frozenset(_TYPES_TEXT.split())
_PLACE_PAGE = re.compile(
    r"contact|kontakt|impressum|imprint|visit|find-us|about|anfahrt|infos-pratiques|contacto|besuch|location|"
    r"standort|ueber-uns|horaires|"
    r"opening|legal-notice|mentions-legales|aviso-legal|hours"
)
_NO_PLACE = re.compile(
    r"grant|fund|job|vacanc|career|news|blog|article|foerder|stellen|appel|recrut|empleo|tender|"
    r"volunteer|minutes",
    re.IGNORECASE,
)
_DIRECTORY_LABEL = re.compile(r"^(?:website|webseite|site web|sitio web|web|homepage)$")
_WEBSITE_LINK = re.compile(r"^(?:visit )?(?:our )?web ?site|webseite|^www\.", re.IGNORECASE)


def businesses_of(source: Source) -> Gathered:
    """The business that a page is of."""
    if not source.is_html:
        return Gathered()
    values = Values()
    thing = next((thing for thing in everything_in(source.things) if thing.is_a(_TYPES) and thing.text("name")), None)
    if thing is not None and _is_within_another(source, thing):
        thing = None
    if thing is None and source.facts.is_article_or_product:
        return Gathered()
    address = _address(source, thing)
    if thing is not None:
        _read_markup(source, thing, values)
    elif not _is_place_page(source, address):
        return Gathered()
    _read_text(source, address, values, is_marked=thing is not None)
    if values.has("address", "telephone") == 0:
        return Gathered()
    return checked(ItemKind.BUSINESS, values.with_url(source.url), values.sure, MAKER)


def _is_within_another(source: Source, thing: Thing) -> bool:
    """The provider of a service or the seller of a product is not what the page is about."""
    return any(
        thing in outer.things("provider", "seller", "hiringOrganization", "organizer", "location", "publisher")
        for outer in everything_in(source.things)
    )


def _is_place_page(source: Source, address: PostalAddress | None) -> bool:
    """Without markup: the page of a place has its address and says how to come, or is the first of its site."""
    if address is None or _NO_PLACE.search(source.facts.path) or source.facts.deadline is not None:
        return False
    path = source.facts.path
    is_home = path in ("", "/") or re.fullmatch(r"/(?:index|home)\.\w{2,5}", path) is not None
    is_about_place = _PLACE_PAGE.search(path) is not None
    has_phone = _phone(source, address) is not None
    return has_phone and (is_home or is_about_place or bool(find_hours(source.lines)))


def _read_markup(source: Source, thing: Thing, values: Values) -> None:
    country = source.facts.country
    values.note("name", thing.text("name"), MARKUP)
    address = address_of(thing, country)
    if address is not None:
        values.note("address", dict(address), MARKUP if "streetAddress" in address else SEEN)
        country = address.get("addressCountry") or country
    for text in thing.texts("telephone"):
        values.note("telephone", e164(text, country, is_trusted=True), MARKUP)
    url = absolute(thing.text("url", "sameAs"), source.base_url)
    if url is not None:
        is_elsewhere = urlsplit(url).hostname != source.host
        values.note("website", url if is_elsewhere else _home(url), MARKUP)
    values.note("description", thing.text("description"), MARKUP)
    values.note("priceRange", (thing.text("priceRange") or "")[:50], MARKUP)
    values.note("openingHours", as_items(_hours(thing)), MARKUP)
    kinds = sorted(name for name in thing.types if name in _TYPES and name != "LocalBusiness")
    values.note("categories", list(kinds), MARKUP)


def _hours(thing: Thing) -> list[Opening]:
    found: list[Opening] = []
    for text in thing.texts("openingHours")[:20]:
        found += read_compact(text)
    for rule in thing.things("openingHoursSpecification")[:50]:
        opens, closes = (rule.text("opens") or "")[:5], (rule.text("closes") or "")[:5]
        if re.fullmatch(r"\d\d:\d\d", opens) and re.fullmatch(r"\d\d:\d\d", closes) and opens != closes:
            days = [day_number(text) for text in rule.texts("dayOfWeek")]
            found += [(day, opens, closes) for day in days if day is not None]
    return sorted(set(found))


def _read_text(source: Source, address: PostalAddress | None, values: Values, *, is_marked: bool) -> None:
    if address is not None:
        values.note("address", dict(address.fields), LABELLED)
    phone = _phone(source, address)
    values.note("telephone", phone, SEEN + 0.1)
    values.note("openingHours", as_items(find_hours(source.lines)), SEEN)
    if not is_marked:
        values.note_found("name", _name(source, address))
    values.note("website", _website(source), LABELLED)
    values.note("website", _home(source.url), 0.6 if is_marked else SEEN)
    values.note_found("description", source.facts.description)


def _name(source: Source, address: PostalAddress | None) -> tuple[str, float] | None:
    """Its site's name; in a directory the heading, where the address is not that of the site's own footer."""
    site, heading = source.facts.site, source.facts.heading
    in_footer = address is not None and source.lines[address.at].zone is Zone.FOOTER
    if _website(source) is not None and heading and not in_footer:
        return heading, LABELLED
    return site


def _address(source: Source, thing: Thing | None) -> PostalAddress | None:
    """The one in the matter comes before the one at the foot; what a business says of itself by markup is kept."""
    found = source.facts.own_addresses
    if thing is not None and found:
        given = address_of(thing, source.facts.country) or {}
        code = given.get("postalCode")
        if code:
            found = [one for one in found if re.sub(r"\s", "", one.code) == re.sub(r"\s", "", code)]
    return found[0] if found else None


def _phone(source: Source, address: PostalAddress | None) -> str | None:
    """The number nearest to the address."""
    best: tuple[float, str] | None = None
    for place, mark in enumerate(source.facts.marks):
        if mark.telephone is None:
            continue
        away = abs(mark.at - address.at) if address else mark.at
        penalty = 0 if address and source.lines[address.at].zone is mark.zone else 3
        score = away + penalty + 0.01 * place
        if best is None or score < best[0]:
            best = (score, mark.telephone)
    return best[1] if best else None


def _website(source: Source) -> str | None:
    """Another site that the page calls that of the business, as directories do."""
    for pair in source.pairs:
        if pair.zone is Zone.MAIN and _DIRECTORY_LABEL.match(pair.label) and pair.links:
            return absolute(pair.links[0].href, source.base_url)
    for line in source.lines:
        for link in line.links:
            if line.zone is Zone.MAIN and _WEBSITE_LINK.search(link.text):
                url = absolute(link.href, source.base_url)
                if url and urlsplit(url).hostname != source.host:
                    return url
    return None


def _home(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/"
