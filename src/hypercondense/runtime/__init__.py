"""The machine a run happens on: chance, threads, memory, and telling how far the work is."""
