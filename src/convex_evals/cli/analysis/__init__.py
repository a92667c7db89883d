"""What the commands of `analyze` share."""
