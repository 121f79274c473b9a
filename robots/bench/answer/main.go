// Command answer answers questions about robots.txt files with another Go library, for
// make kit-check. It reads JSON lines with robots, agent and path, and writes its
// version, and then a line with a digit for each: 1 may be fetched, 0 not, - an error.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"runtime/debug"
	"strings"

	"github.com/jimsmart/grobotstxt"
	"github.com/temoto/robotstxt"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: answer temoto|jimsmart")
	}
	modules := map[string]string{"temoto": "github.com/temoto/robotstxt",
		"jimsmart": "github.com/jimsmart/grobotstxt"}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == modules[os.Args[1]] {
				fmt.Println(strings.TrimPrefix(m.Path, "github.com/"), m.Version)
			}
		}
	}
	var out strings.Builder
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var q struct {
			Robots      []byte
			Agent, Path string
		}
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			log.Fatal(err)
		}
		out.WriteByte(answer(os.Args[1], q.Robots, q.Agent, q.Path))
	}
	fmt.Println(out.String())
}

func answer(library string, file []byte, agent, path string) (digit byte) {
	defer func() {
		if recover() != nil {
			digit = '-'
		}
	}()
	may := false
	if library == "temoto" {
		f, err := robotstxt.FromBytes(file)
		if err != nil {
			return '-'
		}
		may = f.TestAgent(path, agent)
	} else {
		may = grobotstxt.AgentAllowed(string(file), agent, "http://h"+path)
	}
	if may {
		return '1'
	}
	return '0'
}
