module github.com/gophd/gophd/robots/bench

go 1.26.0

replace github.com/gophd/gophd => ../..

require (
	github.com/gophd/gophd v0.0.0-00010101000000-000000000000
	github.com/temoto/robotstxt v1.1.2
)

require (
	github.com/dunglas/httpsfv v1.1.2 // indirect
	github.com/jimsmart/grobotstxt v1.0.3
)
