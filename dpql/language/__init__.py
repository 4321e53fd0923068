"""Text to `Spec`: two readers, one check of shape, one of meaning, one formatter."""
