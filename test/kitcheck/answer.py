"""Answers questions about robots.txt files with urllib.robotparser, or protego.

Reads JSON lines {"robots": base64, "agent": name, "path": path}; writes the version,
and then a line with a digit for each question: 1 may be fetched, 0 not, - an error.
"""
import base64
import json
import sys
import urllib.robotparser

which = sys.argv[1]
if which == "protego":
    import importlib.metadata
    import os
    import protego
    try:
        version = "protego " + importlib.metadata.version("protego")
    except importlib.metadata.PackageNotFoundError:  # from its sources
        version = "protego " + os.environ.get("PROTEGO_VERSION", "of an unknown version")
else:
    version = "CPython " + sys.version.split()[0]
print(version)
files = {}


def load(data):
    text = base64.b64decode(data).decode("utf-8", "replace")
    if which == "protego":
        return protego.Protego.parse(text)
    parser = urllib.robotparser.RobotFileParser()
    parser.parse(text.splitlines())
    parser.modified()
    return parser


out = []
for line in sys.stdin:
    q = json.loads(line)
    try:
        if q["robots"] not in files:
            files[q["robots"]] = load(q["robots"])
        f = files[q["robots"]]
        may = f.can_fetch(q["path"], q["agent"]) if which == "protego" else f.can_fetch(q["agent"], q["path"])
        out.append("1" if may else "0")
    except Exception:
        out.append("-")
print("".join(out))
