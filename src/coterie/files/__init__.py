"""Models as files: safe to open, the same bytes for the same model, readable by every later version."""

from coterie.files.model_files import CheckpointFolder, inspect_file, load, save
from coterie.files.summary import FileSummary
from coterie.fitting.checkpoint import provide_folders

__all__ = ["FileSummary", "inspect_file", "load", "save"]

provide_folders(CheckpointFolder)
