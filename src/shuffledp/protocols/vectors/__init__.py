"""Protocols that estimate means of clipped vectors, such as gradients."""

from shuffledp.protocols.vectors._participants import VectorParticipants as VectorParticipants
