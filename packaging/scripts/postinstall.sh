#!/bin/sh
# Makes the account and a directory to serve, and starts or restarts the service
# where systemd runs, unless another server holds the port. dpkg calls it with
# "configure"; rpm with a count; apk and pacman with versions.
set -e

case "$1" in abort-*) exit 0 ;; esac

if command -v systemd-sysusers >/dev/null 2>&1; then
	systemd-sysusers gophd.conf
elif ! getent passwd gophd >/dev/null 2>&1; then
	useradd --system --user-group --no-create-home --home-dir /nonexistent \
		--shell /usr/sbin/nologin --comment "Gopher server" gophd
fi

# Files in /srv/gopher belong to the administrator: an existing directory is left alone.
# The sums show whether an example was ever changed.
if [ ! -e /srv/gopher ]; then
	mkdir -p /srv/gopher
	chmod 755 /srv/gopher
	gophd init /srv/gopher >/dev/null 2>&1 || true
	(cd /srv/gopher && find . -type f -exec sha256sum {} +) >/var/lib/gophd.example
fi

# A server that holds the port keeps it.
held=
port=$(gophd doctor -only port 2>/dev/null) || case "$port" in *" is held by "*)
	held=yes
	printf 'gophd was not started.\n%s\n' "$port"
	;;
esac

if command -v deb-systemd-helper >/dev/null; then
	if [ -z "$held" ] && deb-systemd-helper --quiet was-enabled gophd.socket; then
		deb-systemd-helper enable gophd.socket >/dev/null || true
	else
		deb-systemd-helper update-state gophd.socket >/dev/null || true
	fi
fi
if [ -d /run/systemd/system ]; then
	invoke=systemctl
	! command -v deb-systemd-invoke >/dev/null || invoke=deb-systemd-invoke
	$invoke daemon-reload || true
	$invoke try-restart gophd.service || true # an upgrade; the socket loses nobody
	if [ "$held" ]; then
		:
	elif [ $invoke = deb-systemd-invoke ]; then
		$invoke start gophd.socket || true
	elif ! $invoke --quiet is-active gophd.socket; then
		echo "To serve /srv/gopher: systemctl enable --now gophd.socket"
	fi
elif [ -z "$held" ] && command -v rc-service >/dev/null; then
	if rc-service --quiet gophd status >/dev/null 2>&1; then
		rc-service gophd restart || true
	else
		echo "To serve /srv/gopher: rc-update add gophd && rc-service gophd start"
	fi
fi
