"""What is told of many hosts: on a terminal, as a document, as a page."""
