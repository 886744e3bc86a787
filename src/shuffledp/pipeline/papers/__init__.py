"""Everything about one paper or study in one folder: captions, claims, errata, witnesses, searches, computed tables."""
