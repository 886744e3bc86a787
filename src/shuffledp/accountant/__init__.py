"""What a deployment asks of an accountant: central eps, local budget, smallest batch, each with what stands behind
it."""
