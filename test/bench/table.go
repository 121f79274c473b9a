//go:build linux

package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// printTable prints the medians of one scenario.
func printTable(sc scenario, servers []*server, results map[string][]measured) {
	fmt.Printf("\n### %s, %d connections\n\n", sc.name, sc.conns)
	fmt.Println("| server | requests/s | p50 µs | p99 µs | server CPU µs a request | of bare | failed |")
	fmt.Println("|---|--:|--:|--:|--:|--:|--:|")
	for _, s := range servers {
		list := results[s.name]
		if len(list) == 0 {
			continue
		}
		failed := 0
		for _, r := range list {
			failed += r.failed
		}
		ratio := median(list, func(r measured) float64 { return perRequest(r) }) / median(results["bare"], perRequest)
		fmt.Printf("| %s | %.0f | %.0f | %.0f | %.1f | %.2f | %d |\n", s.name,
			median(list, func(r measured) float64 { return float64(r.requests) / r.span.Seconds() }),
			median(list, func(r measured) float64 { return micros(r.quantile(0.5)) }),
			median(list, func(r measured) float64 { return micros(r.quantile(0.99)) }),
			median(list, perRequest), ratio, failed)
	}
}

func perRequest(r measured) float64 { return micros(r.cpu) / float64(max(r.requests, 1)) }

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func median[T cmp.Ordered](list []measured, of func(measured) T) T {
	values := make([]T, 0, len(list))
	for _, r := range list {
		values = append(values, of(r))
	}
	if len(values) == 0 {
		var zero T
		return zero
	}
	slices.Sort(values)
	return values[len(values)/2]
}
