//go:build !race

package fileserver

const raceEnabled = false
