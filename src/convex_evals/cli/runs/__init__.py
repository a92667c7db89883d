"""What the commands about runs share: carrying them out, and showing them as tables or JSON."""
