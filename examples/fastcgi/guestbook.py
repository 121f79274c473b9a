#!/usr/bin/env python3
"""A guestbook, for fcgiwrap. Copy it to cgi-bin/guestbook, make it executable, and link
it as "7Sign the guestbook<TAB>/cgi-bin/guestbook"."""
import fcntl
import os
import sys
import time

book = os.environ.get("GUESTBOOK", "/var/lib/gophd-programs/guestbook")
entry = "".join(c for c in os.environ.get("SEARCHREQUEST", "") if c.isprintable())[:300]
with open(book, "a+", encoding="utf-8") as f:
    fcntl.flock(f, fcntl.LOCK_EX)
    if entry:
        f.write(time.strftime("%Y-%m-%d ") + entry + "\n")
    f.seek(0)
    lines = f.read().splitlines()[-100:]
sys.stdout.reconfigure(encoding="utf-8", newline="\r\n")
print("Content-Type: text/plain\n")
print("\n".join(lines) if lines else "The guestbook is empty.")
