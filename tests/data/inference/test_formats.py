"""Numbers and dates in any format are those that were written."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.data.inference.dates import DateFormat, parse_times
from coterie.data.inference.infer import infer_table
from coterie.data.inference.numbers import NumberFormat
from coterie.data.inference.reading import ColumnReading, ReadingOptions, TableReading

NUMBERS = st.lists(st.decimals(-(10**9), 10**9, places=2, allow_nan=False), min_size=1, max_size=30)
PATTERNS = ["%Y-%m-%d %H:%M:%S", "%d.%m.%Y %H:%M:%S", "%d %B %Y %I:%M:%S %p", "%d/%m/%Y %H:%M:%S"]
MOMENTS = st.lists(
    st.datetimes(datetime(1970, 1, 1), datetime(2060, 12, 31)).map(lambda own: own.replace(microsecond=0)),
    min_size=1,
    max_size=30,
)


def written(value: object, decimal: str, thousands: str, before: str = "", after: str = "") -> str:
    plain = f"{value:,.2f}".replace(",", "T").replace(".", "D").replace("T", thousands).replace("D", decimal)
    sign = "-" if plain.startswith("-") else ""
    return f"{sign}{before}{plain.lstrip('-')}{after}"


@settings(deadline=None)
@given(
    NUMBERS,
    st.sampled_from([".", ","]),
    st.sampled_from(["", "other", " ", "'"]),
    st.sampled_from(["", "$", "€ "]),
)
def test_numbers_are_those_that_were_written(values: list, decimal: str, thousands: str, sign: str) -> None:
    mark = {".": ",", ",": "."}[decimal] if thousands == "other" else thousands
    texts = [written(value, decimal, mark, before=sign) for value in values]
    parsed, known = NumberFormat.of(decimal).parse(texts)
    assert known.all(), texts
    assert parsed.tolist() == [float(value) for value in values]


@settings(deadline=None)
@given(NUMBERS, st.sampled_from([".", ","]))
def test_two_decimals_leave_no_doubt_about_the_mark(values: list, decimal: str) -> None:
    other = {".": ",", ",": "."}[decimal]
    texts = np.array([written(value, decimal, other) for value in values], dtype=object)
    reading = infer_table({"x": texts})["x"]
    assert reading.kind == "number"
    assert reading.parse(texts).tolist() == [float(value) for value in values]


@settings(deadline=None)
@given(
    MOMENTS,
    st.sampled_from(["%Y-%m-%d %H:%M:%S", "%d.%m.%Y %H:%M:%S", "%d %B %Y %I:%M:%S %p", "%d/%m/%Y %H:%M:%S"]),
)
def test_dates_are_those_that_were_written(moments: list[datetime], pattern: str) -> None:
    texts = [own.strftime(pattern) for own in moments]
    for form in (DateFormat(day_first=True), DateFormat(pattern=pattern)):
        values, known = form.parse(texts)
        assert known.all(), texts
        assert values.astype(object).tolist() == moments


@settings(deadline=None)
@given(MOMENTS)
def test_months_first_are_read_so(moments: list[datetime]) -> None:
    texts = [own.strftime("%m/%d/%Y") for own in moments]
    values, known = DateFormat(day_first=False).parse(texts)
    assert known.all()
    assert values.astype("M8[D]").astype(object).tolist() == [own.date() for own in moments]


@settings(deadline=None)
@given(st.lists(st.integers(0, 86399), min_size=1, max_size=20))
def test_times_are_those_that_were_written(seconds: list[int]) -> None:
    texts = [(datetime(2000, 1, 1) + timedelta(seconds=own)).strftime("%I:%M:%S %p") for own in seconds]
    values, known = parse_times(texts)
    assert known.all()
    assert values.astype("m8[s]").astype(int).tolist() == seconds


@pytest.mark.parametrize(
    "text",
    [
        "1,2,3",
        "1.2.3",
        "12,34",
        "1 2",
        "--5",
        "5%%",
        "$",
        "e5",
        "1e",
        "0,123,456",
        "12 kg",
        "٣٤x",
        "V57",
        "+",
        "1,,2",
    ],
)
def test_what_is_no_number_with_a_point_is_none(text: str) -> None:
    assert not NumberFormat.of(".").matches([text])[0]


@pytest.mark.parametrize(
    "text", ["31.02.2021", "2021-13-01", "0/1/2021", "2021", "12", "1.2.3", "32/01/2021", "Foo 12, 2021"]
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert not DateFormat(day_first=True).parse([text])[1][0]


@settings(deadline=None)
@given(st.lists(st.text(max_size=12), min_size=1, max_size=20))
def test_any_texts_can_be_inferred_and_read_again(texts: list[str]) -> None:
    held = np.array([*texts, None], dtype=object)
    reading = infer_table({"x": held})["x"]
    values = reading.parse(held)
    assert len(values) == len(held)
    again = TableReading.of_json(TableReading({"x": reading}).to_json())["x"]
    np.testing.assert_array_equal(again.parse(held), values)


def test_a_million_rows_are_read_by_their_shapes() -> None:
    """What is looked at one by one are shapes of texts, and there are few."""
    from coterie.data.inference.levels import shapes_of

    texts = [f"{number % 10_000:04d},{number % 100:02d}" for number in range(100_000)]
    shapes, codes = shapes_of(texts, str.maketrans("0123456789", "0000000000"))
    assert shapes == ["0000,00"]
    assert len(codes) == len(texts)


def test_a_value_of_another_kind_is_an_error_that_names_the_row() -> None:
    from coterie.errors import InvalidInput

    reading = ColumnReading("area", "number")
    with pytest.raises(InvalidInput) as caught:
        reading.parse(np.array(["1.5", "-", "huge"], dtype=object), "new.csv")
    assert (caught.value.row, caught.value.column, caught.value.received) == (2, "area", "huge")


def test_notes_name_what_changes_a_doubtful_reading() -> None:
    texts = {
        "thousands": ["1,234", "12,500"],
        "dates": ["04/05/2021", "06/07/2021"],
        "codes": ["250.8"] * 19 + ["V57"],
        "words": ["1"] * 19 + ["closed"],
        "zeros": ["01067", "80331"],
    }
    changes = {name: own.change for name, own in infer_table(texts).items()}  # type: ignore[arg-type]
    assert changes == {
        "thousands": ("decimal", ","),
        "dates": ("date_format", "%d/%m/%Y"),
        "codes": ("kinds", "number"),
        "words": ("kinds", "category"),
        "zeros": ("kinds", "number"),
    }
    options = ReadingOptions(kinds={"zeros": "number"})
    assert infer_table({"zeros": texts["zeros"]}, options)["zeros"].kind == "number"  # type: ignore[dict-item]


def test_what_others_noted_is_no_reason_to_fail() -> None:
    for text in ("", "[1]", '{"a": 3}', '{"a": {"kind": "what"}}'):
        TableReading.of_json(text)
    assert TableReading.of_json('{"a": {"kind": "what"}}')["a"].kind == "category"


def test_years_of_two_digits_turn_the_century_after_68_as_in_strptime() -> None:
    texts = [f"31.12.{year:02d}" for year in (0, 67, 68, 69, 70, 99)]
    values, known = DateFormat(day_first=True).parse(texts)
    assert known.all()
    days = values.astype("M8[D]").astype(object).tolist()
    assert days == [datetime.strptime(text, "%d.%m.%y").date() for text in texts]
    assert [day.year for day in days] == [2000, 2067, 2068, 1969, 1970, 1999]


@pytest.mark.parametrize("zone", ["Z", "+00:00", "+05:30", "-03:45", "+1400", "-11", "+02:00"])
def test_moments_of_a_zone_are_those_of_universal_time(zone: str) -> None:
    texts = [
        f"{day}T{time}{zone}" for day in ("1969-12-31", "2024-02-29") for time in ("00:10", "23:50:01.25")
    ]
    values, known = DateFormat().parse(texts)
    assert known.all()
    moments = [datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None) for text in texts]
    assert values.astype("M8[us]").astype(object).tolist() == moments


def test_what_a_stored_reading_does_not_say_is_the_plain_form() -> None:
    number = ColumnReading.of_plain("price", {"kind": "number"}).number

    assert (number.decimal, number.percent) == (".", False)
