"""The user's own records: files and data frames with a row per user, read once, block by block."""
