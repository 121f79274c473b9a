//go:build linux

package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// proxy is the address that the load comes from that is sent by a proxy.
const proxy = "127.0.0.2"

func dialProxied(addr string) (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(proxy)}}
	c, err := d.Dial("tcp", addr)
	if err == nil {
		_, err = io.WriteString(c, "PROXY TCP4 127.0.0.3 127.0.0.1 1234 70\r\n")
	}
	return c, err
}

// sessions makes TLS resume sessions: a cheaper handshake disturbs the measurement less.
var sessions = tls.NewLRUClientSessionCache(0)

func dialTLS(addr string) (net.Conn, error) {
	return tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true, ClientSessionCache: sessions})
}

// ciphering returns the time that AES-GCM takes for size bytes in records of 16 KiB,
// in µs.
func ciphering(size int) float64 {
	block, err := aes.NewCipher(make([]byte, 16))
	if err != nil {
		return 0
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return 0
	}
	nonce, record := make([]byte, aead.NonceSize()), make([]byte, 16<<10, 17<<10)
	least := time.Hour
	for range 200 {
		began := time.Now()
		for rest := size; rest > 0; rest -= len(record) {
			aead.Seal(record[:0], nonce, record[:min(rest, len(record))], nil)
		}
		least = min(least, time.Since(began))
	}
	return float64(least.Nanoseconds()) / 1000
}

// runWays measures the CPU time of a cached listing of 3,000 files, on each way to it.
// The cost of a handshake is the extra cost of a small text over TLS.
func runWays(gophd string, rounds int, span time.Duration) error {
	dir, err := os.MkdirTemp("", "gophd-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	tree := filepath.Join(dir, "tree")
	if err := makeTree(tree); err != nil {
		return fmt.Errorf("making the tree: %w", err)
	}
	s, err := start("gophd", func(port string) []string {
		return append(gophdArgs(gophd, tree, port), "-trust-proxy", proxy, "-tls-self-signed", dir)
	})
	if err != nil {
		return err
	}
	defer s.stop()
	const listing, text = 100_000, 1000
	cost := map[string][]time.Duration{}
	all := []scenario{
		{name: "plain", selectors: []string{"/list3000/"}, conns: 8, least: listing},
		{name: "with a query", selectors: []string{"/list3000/\tquery"}, conns: 8, least: listing},
		{name: "behind a proxy", selectors: []string{"/list3000/"}, conns: 8, least: listing, dial: dialProxied},
		{name: "over TLS", selectors: []string{"/list3000/"}, conns: 8, least: listing, dial: dialTLS},
		{name: "text, plain", selectors: []string{"/hot.txt"}, conns: 8, least: text},
		{name: "text, over TLS", selectors: []string{"/hot.txt"}, conns: 8, least: text, dial: dialTLS},
	}
	for range rounds {
		for _, sc := range all {
			r := measure(s, sc, span)
			if r.requests == 0 || r.failed > 0 {
				return fmt.Errorf("%s: %d requests, %d failed: %w", sc.name, r.requests, r.failed, r.firstError)
			}
			cost[sc.name] = append(cost[sc.name], r.cpu/time.Duration(r.requests))
		}
	}
	// Other programs on the machine disturb the fastest round least.
	least := func(name string) float64 { return float64(slices.Min(cost[name]).Nanoseconds()) / 1000 }
	handshake := least("text, over TLS") - least("text, plain")
	sealing := ciphering(3000 * len("0entry-00000.txt\t/list3000/entry-00000.txt\tlocalhost\t12345\r\n"))
	fmt.Printf("\nA listing of 3,000 files from the cache\n\n| way | CPU for a request | of plain |\n| --- | --- | --- |\n")
	for _, name := range []string{"plain", "with a query", "behind a proxy", "over TLS"} {
		us := least(name)
		if name == "over TLS" {
			name, us = fmt.Sprintf("over TLS, less %.0f \u00b5s for the handshake", handshake), us-handshake
			fmt.Printf("| %s | %.0f \u00b5s | %.2f |\n", name, us, us/least("plain"))
			name, us = fmt.Sprintf("and less %.0f \u00b5s for ciphering", sealing), us-sealing
		}
		fmt.Printf("| %s | %.0f \u00b5s | %.2f |\n", name, us, us/least("plain"))
	}
	return nil
}
