"""Records of one's own: files and data frames with a row per user, read once, a block at a time."""
