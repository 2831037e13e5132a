"""Currencies in use, by ISO 4217."""

_CODES = """
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLF
    CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG
    HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD
    MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF
    SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS
    VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG
"""
ISO_4217 = frozenset(_CODES.split())
# ruff: noqa: RUF001 - signs are Cyrillic, too
SYMBOLS = {
    "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₽": "RUB", "₺": "TRY", "₴": "UAH", "₩": "KRW", "₫": "VND",
    "₪": "ILS", "฿": "THB", "₱": "PHP", "₦": "NGN", "₸": "KZT", "₾": "GEL", "zł": "PLN", "zl": "PLN", "Kč": "CZK",
    "Ft": "HUF", "lei": "RON", "Lei": "RON", "лв": "BGN", "лв.": "BGN", "руб": "RUB", "руб.": "RUB", "р.": "RUB",
    "грн": "UAH", "грн.": "UAH", "тг": "KZT", "тг.": "KZT", "тенге": "KZT", "원": "KRW", "円": "JPY", "元": "CNY",
    "US$": "USD", "U$S": "USD", "C$": "CAD", "CA$": "CAD", "A$": "AUD", "AU$": "AUD", "NZ$": "NZD", "HK$": "HKD",
    "S$": "SGD", "NT$": "TWD", "R$": "BRL", "MX$": "MXN", "Rs.": "INR", "Rs": "INR", "RM": "MYR", "Rp": "IDR",
    "CHF": "CHF", "Fr.": "CHF", "euro": "EUR", "euros": "EUR", "Euro": "EUR", "din": "RSD", "din.": "RSD", "ден": "MKD",
    "KM": "BAM", "S/": "PEN", "S/.": "PEN", "₡": "CRC", "₲": "PYG", "₵": "GHS", "KSh": "KES", "TL": "TRY", "Br": "BYN",
}  # fmt: skip
"""Signs that stand for one currency wherever they are. `$` and `kr` do not: dollars, pesos and crowns share them."""
_DOLLARS = {
    "ar": "ARS", "au": "AUD", "ca": "CAD", "cl": "CLP", "co": "COP", "hk": "HKD", "mx": "MXN", "nz": "NZD", "sg": "SGD",
    "tw": "TWD", "uy": "UYU", "us": "USD",
}  # fmt: skip
_CROWNS = {"se": "SEK", "no": "NOK", "dk": "DKK", "is": "ISK", "cz": "CZK"}


def currency_of(sign: str | None, host: str = "") -> str | None:
    """The code of a sign as a shop writes it. A sign that several currencies share is told by the shop's country."""
    if not sign:
        return None
    sign = sign.strip()
    if sign.upper() in ISO_4217:
        return sign.upper()
    if sign in SYMBOLS:
        return SYMBOLS[sign]
    country = host.rpartition(".")[2].lower()
    if sign == "$":
        return _DOLLARS.get(country)
    if sign.lower().rstrip(".") in ("kr", "kn"):
        return _CROWNS.get(country)
    return None
