"""Study that compares all protocols."""
