// Geomyidae runs scripts that were written for the server geomyidae: it hands them the
// search, the arguments, the host and the port as $1 to $4, and the traversal and the
// selector as $5 and $6. Run it as a user who may read the scripts and write nothing that
// gophd serves:
//
//	geomyidae /run/gophd-programs/geomyidae.sock
//	gophd -fastcgi '*.dcgi=/run/gophd-programs/geomyidae.sock' DIR
//
// It is also an example of a FastCGI program in Go: package net/http/fcgi is all it needs.
package main

import (
	"cmp"
	"context"
	"log"
	"net"
	"net/http"
	"net/http/fcgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// timeLimit ends a script that does not end by itself.
const timeLimit = time.Minute

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: geomyidae SOCKET")
	}
	l, err := net.Listen("unix", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(fcgi.Serve(l, http.HandlerFunc(run)))
}

func run(w http.ResponseWriter, r *http.Request) {
	env := fcgi.ProcessEnv(r)
	search := cmp.Or(env["SEARCHREQUEST"], r.URL.RawQuery)
	_, arguments, _ := strings.Cut(env["SELECTOR"], "?")
	if search == arguments { // gophd fills in the one for the other
		search = ""
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeLimit)
	defer cancel()
	script := env["SCRIPT_FILENAME"]
	cmd := exec.CommandContext(ctx, script, search, arguments, env["SERVER_NAME"],
		env["SERVER_PORT"], env["TRAVERSAL"], env["SELECTOR"])
	cmd.Dir = filepath.Dir(script)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "REMOTE_ADDR=" + r.RemoteAddr}
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.Output()
	if err != nil && len(out) == 0 {
		log.Printf("%s: %v", script, err)
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write(out)
}
