"""The review in a browser: its page, the requests of the page, and the server, which lets nobody else in. Needs the extra `web`."""
