// Package bench measures package robots beside github.com/temoto/robotstxt,
// github.com/jimsmart/grobotstxt, a linear matcher, and google/robotstxt where the
// variable GOOGLE_ROBOTSTXT names a clone of it. It is a module of its own, so that the library does
// not depend on what it is compared with. The inputs are made here.
//
//	cd robots/bench && GOOGLE_ROBOTSTXT=~/robotstxt go test -bench . -count 5
package bench
