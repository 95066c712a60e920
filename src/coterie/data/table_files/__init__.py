"""Tables in files: CSV, TSV, Parquet, JSON and Excel, compressed or not, read through duckdb."""
