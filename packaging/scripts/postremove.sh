#!/bin/sh
# dpkg's purge removes whatever the service has made: certificate, key, logs, account, and
# the example in /srv/gopher if nobody has changed it. Everything else stays.
set -e

if [ "$1" = purge ]; then
	rm -rf /var/lib/gophd /var/lib/private/gophd /var/log/gophd /var/log/private/gophd
	rm -f /etc/credstore/gophd.crt /etc/credstore/gophd.key
	for socket in gophd-gemini.socket gophd-spartan.socket gophd-nex.socket gophd-finger.socket; do
		rm -f "/etc/systemd/system/sockets.target.wants/$socket" # which the administrator has enabled
	done
	sums=/var/lib/gophd.example
	if [ -s "$sums" ] && [ -d /srv/gopher ]; then
		cd /srv/gopher
		if sha256sum --check --status "$sums" && [ "$(find . ! -type d | wc -l)" = "$(wc -l <"$sums")" ]; then
			cd /
			rm -rf /srv/gopher
		fi
		cd /
	fi
	rm -f "$sums"
	! getent passwd gophd >/dev/null || userdel gophd || true
	! getent group gophd >/dev/null || groupdel gophd || true
fi

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
