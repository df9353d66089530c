"""Hostile files for every reader, made by code, and the contract that holds for each of them."""
