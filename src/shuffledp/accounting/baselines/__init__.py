"""What the papers compare with: accounting of other authors' protocols."""
