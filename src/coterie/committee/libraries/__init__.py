"""Members of other libraries: fitted if they are asked for by name, kept as the bytes of the library's own format."""

from coterie.committee.libraries.member import LIBRARIES, LibraryClassifier, LibraryRegressor, library_member

__all__ = ["LIBRARIES", "LibraryClassifier", "LibraryRegressor", "library_member"]
