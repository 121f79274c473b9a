// Package hostile tests gophd as a process on a network that means no good: with
// TLS and proxies of other makes, and with ten thousand clients that only want
// to keep it busy. It holds nothing but tests.
package hostile
