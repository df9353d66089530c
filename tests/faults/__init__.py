"""Kills, full disks, folders that cannot be written, and changed bits: same bits afterwards, or a refusal."""
