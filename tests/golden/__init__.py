"""The golden library against published numbers, torch and transformers."""
