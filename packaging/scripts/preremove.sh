#!/bin/sh
# Stops the service when the package goes for good, not when it is upgraded.
set -e

case "$1" in upgrade | 1 | failed-upgrade | deconfigure) exit 0 ;; esac

if [ -d /run/systemd/system ]; then
	invoke=systemctl
	! command -v deb-systemd-invoke >/dev/null || invoke=deb-systemd-invoke
	sockets="gophd.socket gophd-gemini.socket gophd-spartan.socket gophd-nex.socket gophd-finger.socket"
	$invoke stop $sockets gophd.service || true
	[ $invoke = deb-systemd-invoke ] || $invoke --quiet disable $sockets || true
elif command -v rc-service >/dev/null; then
	rc-service gophd stop || true
	rc-update del gophd || true
fi
