#!/bin/sh
# The account stays, and so does /srv/gopher: files may belong to the one, and the
# other is the administrator's.
set -e

if command -v deb-systemd-helper >/dev/null; then
	case "$1" in
	remove) deb-systemd-helper mask gophd.socket gophd.service >/dev/null || true ;;
	purge)
		deb-systemd-helper purge gophd.socket gophd.service >/dev/null || true
		deb-systemd-helper unmask gophd.socket gophd.service >/dev/null || true
		;;
	esac
fi
[ ! -d /run/systemd/system ] || systemctl daemon-reload || true
