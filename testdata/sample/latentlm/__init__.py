"""A small language model runtime for latent attention models."""
