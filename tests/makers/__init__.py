"""What tests of several rooms make: hypergraphs with known answers, files, servers, tasks."""
