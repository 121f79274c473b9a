#!/bin/sh
# Stops the service when the package goes for good, not when it is upgraded.
set -e

case "$1" in upgrade | 1 | failed-upgrade | deconfigure) exit 0 ;; esac

if [ -d /run/systemd/system ]; then
	systemctl stop gophd.socket gophd.service || true
	command -v deb-systemd-helper >/dev/null || systemctl --quiet disable gophd.socket || true
fi
