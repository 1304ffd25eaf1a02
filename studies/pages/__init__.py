"""The results pages: which cells they are made of, running what is missing, and writing them."""
