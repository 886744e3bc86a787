"""The study that compares all protocols."""
