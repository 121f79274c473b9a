package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// abuse lists what hostile people and broken trees do, and the tests that show
// what becomes of it.
var abuse = []struct {
	what  string
	tests []string // package/name
}{
	{"paths that lead out of the root, plain, encoded, twice encoded, with backslashes, absolute", []string{
		"selector/TestAbusePaths", "selector/TestAbuseEncodedDots", "test/e2e/TestAbuseNothingOutsideTheRoot",
	}},
	{"symbolic links: file, directory, loop, dangling, absolute, swapped while serving", []string{
		"internal/disk/TestAbuseSymbolicLinks", "internal/disk/TestAbuseLinkSwappedWhileServing", "test/e2e/TestAbuseNothingOutsideTheRoot",
	}},
	{"dotfiles", []string{"site/TestHiddenAndControlNamesAreNotThere", "test/e2e/TestAbuseDotfilesOverTheWire"}},
	{"FIFO, socket, device, directory without x", []string{
		"internal/disk/TestAbuseSpecialFiles", "site/TestWhoForbids", "test/e2e/TestAbuseSpecialFilesAsAnnotations",
	}},
	{"NUL", []string{"selector/TestAbuseControlBytesInRequest", "test/e2e/TestAbuseNothingOutsideTheRoot"}},
	{"CR, LF, TAB, ESC in selector, query, file name, gophertag, gophermap", []string{
		"menu/TestAbuseNames", "menu/TestAbuseGophertag", "selector/TestAbuseControlBytesInRequest", "server/TestLogQuotesOutsideBytes",
		"test/e2e/TestAbuseControlBytesNowhere",
	}},
	{"URL: selectors with scripts", []string{"menu/TestAbuseRedirect"}},
	{"silent, trickling, half-closing clients, and those that never read", []string{
		"server/TestTricklingDoesNotExtendTheDeadline", "server/TestSilentClientsAreClosedAndOthersServed", "server/TestHalfCloseWithoutRequest",
		"server/TestStalledReplyEnds", "test/e2e/TestAbuseClientsThatNeverRead",
	}},
	{"too many clients, of one address and in all", []string{
		"server/TestAbuseTooManyConnectionsOfAnAddress", "server/TestAbuseServerFull", "server/TestAbuseTooManyRequests", "server/TestAbuseTooManySessions",
	}},
	{"4 KiB, 64 KiB, 1 MiB without a line end", []string{"selector/TestAbuseLongRequest", "test/e2e/TestAbuseLongRequestsOverTheWire"}},
	{"more than one line, which must not cost the reply", []string{"server/TestGentleClose", "test/e2e/TestAbuseNoReplyIsLost"}},
	{"TLS on the plain port", []string{"server/TestAbuseTLSHelloOnThePlainPort"}},
	{"HTTP from a browser", []string{"server/TestAbuseHTTPRequests"}},
	{"PROXY headers", []string{"server/TestAbuseProxyHeaderFromAStranger", "server/TestAbuseProxyHeaders", "server/TestAbuseCapsBehindAProxy"}},
	{"gophermaps that include themselves, a thousand others, a line of 1 MB", []string{
		"menu/TestAbuseMapIncludesItself", "menu/TestAbuseThousandIncludes", "menu/TestAbuseIncludeBomb", "menu/TestAbuseMegabyteLine",
		"menu/TestAbuseHugeMaps", "menu/TestAbuseManyGlobs", "test/e2e/TestAbuseGophermapsOverTheWire",
	}},
	{"10⁵ names", []string{"menu/TestAbuseManyNames", "test/e2e/TestAbuseManyNamesOverTheWire"}},
	{"huge, sparse, growing, shrinking files", []string{
		"test/e2e/TestAbuseHugeFileTakesNoMemory", "test/e2e/TestAbuseGrowingFileEnds",
		"test/e2e/TestAbuseShrinkingFileEndsCleanly",
	}},
	{"broken gophermaps and annotations", []string{"menu/TestAbuseManyProblems", "test/e2e/TestAbuseBrokenSiteServesTheRest"}},
}

// TestAbuseIndex fails if a test in the list is gone.
func TestAbuseIndex(t *testing.T) {
	for _, row := range abuse {
		for _, name := range row.tests {
			dir, test := filepath.Split(name)
			if !defined(t, filepath.Join("../..", dir), test) {
				t.Errorf("%s: there is no test %s", row.what, name)
			}
		}
	}
}

func defined(t *testing.T, dir, test string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	pattern := regexp.MustCompile(`(?m)^func ` + test + `\(`)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if pattern.Match(text) {
			return true
		}
	}
	return false
}
