#!/bin/sh
# Makes the account, before the service is installed.
set -e

getent passwd gophd >/dev/null 2>&1 || {
	addgroup -S gophd
	adduser -S -D -H -h /dev/null -s /sbin/nologin -G gophd -g "Gopher server" gophd
}
