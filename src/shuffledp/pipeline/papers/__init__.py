"""One folder per paper or study: captions, claims, errata, witnesses, searches, computed tables."""
