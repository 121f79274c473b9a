#!/bin/sh
# Makes the account and a directory to serve, and starts or restarts the service
# where systemd runs, unless another server holds the port. dpkg calls it with
# "configure"; rpm with a count; apk and pacman with versions. Its last line names what
# is served, or how to start it.
set -e

case "$1" in abort-*) exit 0 ;; esac

if command -v systemd-sysusers >/dev/null 2>&1; then
	systemd-sysusers gophd.conf
elif ! getent passwd gophd >/dev/null 2>&1; then
	useradd --system --user-group --no-create-home --home-dir /nonexistent \
		--shell /usr/sbin/nologin --comment "Gopher server" gophd
fi

# A server that holds the port keeps it.
held=
port=$(gophd doctor -only port 2>/dev/null) || case "$port" in *" is held by "*) held=yes ;; esac

# Files in /srv/gopher belong to the administrator: an existing directory is left alone,
# and the server that holds the port may serve it. The sums show whether an example was
# ever changed.
if [ ! -e /srv/gopher ]; then
	mkdir -p /srv/gopher
	chmod 755 /srv/gopher
	if [ -z "$held" ]; then
		gophd init /srv/gopher >/dev/null 2>&1 || true
		(cd /srv/gopher && find . -type f -exec sha256sum {} +) >/var/lib/gophd.example
	fi
fi

how="systemctl enable --now gophd.socket"
started=
if command -v deb-systemd-helper >/dev/null; then
	deb-systemd-helper unmask gophd.socket gophd.service >/dev/null || true # which a removal has masked
	if [ -z "$held" ] && deb-systemd-helper --quiet was-enabled gophd.socket; then
		deb-systemd-helper enable gophd.socket >/dev/null || true
	else
		deb-systemd-helper update-state gophd.socket >/dev/null || true
	fi
fi
if [ -d /run/systemd/system ]; then
	invoke=systemctl
	! command -v deb-systemd-invoke >/dev/null || invoke=deb-systemd-invoke # it obeys policy-rc.d
	systemctl daemon-reload || true
	if systemctl --quiet is-active gophd.service; then # an upgrade; the socket loses nobody
		$invoke restart gophd.service || true
	elif [ -z "$held" ] && [ $invoke = deb-systemd-invoke ]; then
		sockets=gophd.socket
		for front in gophd-gemini.socket gophd-spartan.socket gophd-nex.socket gophd-finger.socket; do
			! systemctl --quiet is-enabled "$front" 2>/dev/null || sockets="$front $sockets"
		done
		$invoke start $sockets || true
	fi
	! systemctl --quiet is-active gophd.socket || started=yes
elif command -v rc-service >/dev/null; then
	how="rc-update add gophd && rc-service gophd start"
	if rc-service --quiet gophd status >/dev/null 2>&1; then
		[ "$held" ] || rc-service gophd restart || true
		started=yes
	fi
fi

if [ "$held" ]; then
	printf 'gophd was not started.\n%s\n' "$port"
elif [ "$started" ]; then
	echo "gopher://$(hostname -f 2>/dev/null || hostname)/ serves /srv/gopher; settings: /etc/default/gophd; check: gophd doctor"
else
	echo "To serve /srv/gopher: $how; settings: /etc/default/gophd; check: gophd doctor"
fi
