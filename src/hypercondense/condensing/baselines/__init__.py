"""What AHGCDD is compared with: chosen nodes, and methods of others."""
