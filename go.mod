module github.com/gophd/gophd

go 1.26.0

require (
	github.com/coreos/go-systemd/v22 v22.7.0 // sockets from systemd, for internal/process/systemd; its journal, for internal/command
	github.com/dunglas/httpsfv v1.1.2 // Structured Fields: the values of Content-Usage lines, for robots and policy
	github.com/fsnotify/fsnotify v1.10.1 // change events of the kernel, for internal/watch
	github.com/landlock-lsm/go-landlock v0.11.0 // the sandbox: Landlock on all threads, for internal/process/sandbox
	github.com/pires/go-proxyproto v0.15.0 // PROXY headers, for server; v0.16.0 wants a newer Go
	github.com/prometheus/client_golang v1.25.0 // the numbers that -metrics offers, for internal/process/metrics
	github.com/rogpeppe/go-internal v1.16.0 // diff: for internal/command/robotscmd; testscript: the command line is tested by scripts
	github.com/urfave/cli/v2 v2.27.7 // flags, their environment variables, commands, for cmd/gophd
	github.com/yuin/goldmark v1.8.7 // Markdown as HTML, for internal/front/web
	golang.org/x/net v0.62.0 // bpf: assembles the filter of system calls, for internal/process/sandbox; httpguts: what is a field of a header, for internal/fastcgi; idna: hosts in one spelling, for robots/client
	golang.org/x/sync v0.24.0 // errgroup: the daemon's tasks end together; semaphore: menus in the making are bounded; singleflight: one fetch for many callers, for robots/client
	golang.org/x/sys v0.49.0 // openat2, epoll and sendfile, which syscall does not have in full
	golang.org/x/term v0.47.0 // is the log a terminal?
	golang.org/x/text v0.43.0 // character sets of texts; columns that characters take, for menu; one form for letters with accents (NFKD), for internal/search
	pgregory.net/rapid v1.3.0 // property tests with seeds that can be replayed; tests only
)

require (
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/cpuguy83/go-md2man/v2 v2.0.7 // indirect
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/kylelemons/godebug v1.1.0 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/ncruces/go-strftime v1.1.0 // indirect
	github.com/prometheus/client_model v0.6.3 // indirect
	github.com/prometheus/common v0.72.0 // indirect
	github.com/prometheus/procfs v0.22.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
	github.com/xrash/smetrics v0.0.0-20240521201337-686a1a2994c1 // indirect
	golang.org/x/tools v0.52.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
	kernel.org/pub/linux/libs/security/libcap/psx v1.2.77 // indirect
	modernc.org/libc v1.80.1 // the C library of SQLite, for internal/search
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
	modernc.org/sqlite v1.62.0 // the search index (FTS5), for internal/search
)
