"""What lies on disk: folders and files that are whole or not there, tensors, JSON, locks."""
