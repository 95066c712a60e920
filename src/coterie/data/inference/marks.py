"""Signs and words that stand for something in tables that people write: gaps, currencies, months, yes and no."""

# What is a missing value in any column.
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "<NA>", "?")
# What is a missing value among numbers, dates, times and flags. Among labels these are labels: "none" may mean that a
# house has no garage.
_SIGNS = "- -- --- – — . .. ... * ** x ?? ??? / n.a. n.a n/d nd n.d. #na k.a. s.o. s/o <null> #null! -nan nat"
_WORDS = "none nil missing unknown unbekannt inconnu void empty blank (blank) (null) undefined tbd tba"
_ERRORS = "#div/0! #value! #ref! #name? #num! #error! #n/v #wert!"
_SENTENCES = ("n. a.", "k. a.", "not available", "not applicable", "no data", "\\n")
MISSING_AMONG_VALUES = frozenset(
    [*(mark.casefold() for mark in MISSING), *_SIGNS.split(), *_WORDS.split(), *_ERRORS.split(), *_SENTENCES]
)

CURRENCY_SIGNS = "$€£¥₹₽₩₺₴₪฿₫₱¢₦₡₲"
_CURRENCIES = (
    "US$ A$ AU$ C$ CA$ NZ$ HK$ S$ R$ Rs. Rs kr. kr zł Kč Ft Fr. USD EUR GBP JPY CHF CNY RMB INR AUD CAD NZD SEK NOK "
    "DKK PLN CZK HUF RON BGN BRL ZAR MXN RUB TRY KRW SGD HKD THB ILS AED SAR"
)
CURRENCY_WORDS = tuple(_CURRENCIES.split())
SPACES = "\u0020\u00a0\u202f\u2009\u2007\u2002\u2003"
APOSTROPHES = "'\u2019\u02bc"
MINUS_SIGNS = "-\u2212\u2013"

# The word for yes, then the word for no.
FLAG_WORDS: tuple[tuple[str, str], ...] = (
    *(("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("on", "off")),
    *(("ja", "nein"), ("wahr", "falsch"), ("oui", "non"), ("vrai", "faux"), ("sí", "no"), ("si", "no")),
    *(
        ("verdadero", "falso"),
        ("vero", "falso"),
        ("sim", "não"),
        ("ja", "nee"),
        ("tak", "nie"),
        ("ano", "ne"),
    ),
)

_MONTHS = (
    "january jan januar jänner janvier janv enero ene gennaio gen janeiro",
    "february feb februar février févr fev fevrier febrero febbraio fevereiro",
    "march mar märz maerz mrz mär mars marzo março",
    "april apr avril avr abril abr aprile",
    "may mai mayo maggio mag maio",
    "june jun juni juin junio giugno giu junho",
    "july jul juli juillet juil julio luglio lug julho",
    "august aug août aout agosto ago",
    "september sep sept septembre septiembre settembre set setembro",
    "october oct oktober okt octobre octubre ottobre ott outubro out",
    "november nov novembre noviembre novembro",
    "december dec dezember dez décembre déc decembre diciembre dic dicembre dezembro",
)
MONTHS = {word: number for number, words in enumerate(_MONTHS, 1) for word in words.split()}
