#!/bin/sh
# A menu, for fcgiwrap: copy it to now/gophermap, make it executable, and start gophd with
# -fastcgi menus=/run/gophd-programs.sock. Lines are those of a gophermap.
echo "It is $(date -u '+%H:%M') UTC at $SERVER_HOST, which runs $SERVER_SOFTWARE."
echo "You come from $REMOTE_ADDR."
echo
printf '1Back\t/\n'
