#!/bin/sh
# Makes the account and a directory to serve, and starts or restarts the service
# where systemd runs. dpkg calls it with "configure"; rpm with a count; apk and
# pacman with versions.
set -e

case "$1" in abort-*) exit 0 ;; esac

if command -v systemd-sysusers >/dev/null 2>&1; then
	systemd-sysusers gophd.conf
elif ! getent passwd gophd >/dev/null 2>&1; then
	if command -v useradd >/dev/null 2>&1; then
		useradd --system --user-group --no-create-home --home-dir /nonexistent \
			--shell /usr/sbin/nologin --comment "Gopher server" gophd
	else # Alpine
		addgroup -S gophd
		adduser -S -D -H -h /dev/null -s /sbin/nologin -G gophd -g "Gopher server" gophd
	fi
fi

# What is served belongs to the administrator: an existing directory is left alone.
if [ ! -e /srv/gopher ]; then
	mkdir -p /srv/gopher
	chmod 755 /srv/gopher
	gophd init /srv/gopher >/dev/null 2>&1 || true
fi

if command -v deb-systemd-helper >/dev/null; then
	if deb-systemd-helper --quiet was-enabled gophd.socket; then
		deb-systemd-helper enable gophd.socket >/dev/null || true
	else
		deb-systemd-helper update-state gophd.socket >/dev/null || true
	fi
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
	if systemctl --quiet is-active gophd.service; then
		systemctl restart gophd.service || true # an upgrade; the socket loses nobody
	elif command -v deb-systemd-invoke >/dev/null; then
		deb-systemd-invoke start gophd.socket || true
	else
		echo "To serve /srv/gopher: systemctl enable --now gophd.socket"
	fi
fi
