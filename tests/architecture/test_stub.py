"""The types of the compiled module are written down, and they are the module's."""

from tools.make_stub import STUB, fresh_stub


def test_the_stub_is_what_the_module_says() -> None:
    written = STUB.read_text(encoding="utf-8")
    assert written == fresh_stub(), "The compiled module has changed: run `make stub` and commit the result."
