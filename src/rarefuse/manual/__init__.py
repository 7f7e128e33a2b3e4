"""Reference pages of the documentation, made from the program itself when the site is built."""
