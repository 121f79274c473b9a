// Package bench measures package robots beside github.com/temoto/robotstxt,
// github.com/jimsmart/grobotstxt, a linear matcher, and google/robotstxt where its
// program is at hand. It is a module of its own, so that the library does not
// depend on what it is compared with. The inputs are made here.
//
//	cd robots/bench && GOOGLE_ROBOTS=/path/to/robots go test -bench . -count 5
package bench
