"""tidequery: a small pipeline query language for CSV and JSON Lines files."""

__version__ = "1.0.0"
