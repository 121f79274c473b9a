package readers_test

import (
	"fmt"
	"time"

	"github.com/gophd/gophd/robots/readers"
)

func ExampleAll() {
	file := []byte("User-agent: *\nDisallow: /a*c\nAllow: /abc\n")
	for _, r := range readers.All() {
		fmt.Println(r.Name, r.Read(file).Allowed("mybot", "/abc"))
	}
	// Output:
	// gopher-strict false
	// veronica2 false
	// rfc9309 true
	// rfc9309-raw true
	// google true
	// google-raw true
	// 1994 true
	// first-match true
	// first-match-3.14 true
	// first-match-3.14-raw true
	// longest-match true
	// longest-match-raw true
	// protego true
	// temoto false
	// gemini true
	// gopher-mcp false
}

func ExampleEffectiveRate() {
	var rates []readers.Rate
	for _, value := range []string{"1/10m 1300-1659", "1/20m 1700-0459", "5/1m 0500-1259"} {
		rate, err := readers.ParseRequestRate(value)
		if err != nil {
			fmt.Println(err)
			return
		}
		rates = append(rates, rate)
	}
	rate, ok := readers.EffectiveRate(rates, time.Date(2002, 11, 5, 3, 0, 0, 0, time.UTC))
	fmt.Println(rate, ok, rate.Interval())
	// Output:
	// 1/20m 1700-0459 true 20m0s
}

func ExampleParseVisitTime() {
	window, err := readers.ParseVisitTime("22:00 - 5:00")
	fmt.Println(window, err)
	fmt.Println(window.Contains(time.Date(2002, 11, 5, 23, 0, 0, 0, time.UTC)))
	_, err = readers.ParseVisitTime("0600-2500")
	fmt.Println(err)
	// Output:
	// 2200-0500 <nil>
	// true
	// reading end of times "0600-2500": time "2500": out of range
}

func ExampleParseCrawler() {
	network, problems := readers.ParseCrawler("NETWORK=example", "CRAWLER=index:deny,cooldown:1y")
	fmt.Println(network.Index, network.Cooldown)
	fmt.Println(network)
	for _, p := range problems {
		fmt.Println(p.Code, p.Message)
	}
	// Output:
	// deny 1h0m0s
	// CRAWLER=index:deny,cooldown:3600
	// I6-COOLDOWN-VALUE cooldown is "1y", not a number of seconds: taken as 3600
}
