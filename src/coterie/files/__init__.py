"""Models as files: safe to open, the same bytes for the same model, readable by every later version."""

from coterie._checkpoints import provide_folders
from coterie.files.checkpoint_files import CheckpointFolder
from coterie.files.model_files import inspect_file, load, save
from coterie.files.summary import FileSummary

__all__ = ["FileSummary", "inspect_file", "load", "save"]

provide_folders(CheckpointFolder)
