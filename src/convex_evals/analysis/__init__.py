"""Why did it fail? Evidence, classification, patterns, recommendations, a report."""
