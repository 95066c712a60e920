"""A listing is a list of dicts that looks like a table."""

from coterie.committee import Listing
from coterie.committee.listing import in_few_digits

ROWS = [{"name": "a", "score": 0.123456789, "without": None}, {"name": "<b>", "score": 2.0, "without": 1}]


def test_rows_are_dicts_and_slices_are_listings() -> None:
    listing = Listing(ROWS, ["A note."])

    assert len(listing) == 2
    assert list(listing) == ROWS
    assert listing[1] == ROWS[1]
    assert isinstance(listing[:1], Listing)
    assert listing.column("name") == ["a", "<b>"]


def test_text_is_on_the_left_and_numbers_on_the_right() -> None:
    assert repr(Listing(ROWS, ["A note."])).splitlines() == [
        "name    score  without",
        "a     0.12346",
        "<b>         2        1",
        "A note.",
    ]
    assert repr(Listing([])) == ""


def test_names_are_escaped_in_pages() -> None:
    page = Listing(ROWS, ["a < b"])._repr_html_()

    assert "&lt;b&gt;" in page
    assert "<p>a &lt; b</p>" in page
    assert page.count("<tr>") == 3


def test_changing_a_row_that_was_given_changes_nothing() -> None:
    rows = [{"name": "a"}]
    listing = Listing(rows)
    rows[0]["name"] = "b"

    assert listing[0]["name"] == "a"


def test_a_number_in_a_sentence_has_no_power_of_ten() -> None:
    assert [in_few_digits(value) for value in (999.4, 1000.4, 1001.0)] == ["999", "1,000", "1,001"]
