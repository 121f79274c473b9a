// Command packaging writes the packages of a release: deb, rpm, apk and Arch
// packages and an OCI image, for each architecture.
//
//	go run . -version 1.2.3 -date 1700000000 -bin ../bin -out ../bin/packages
//
// It expects a binary BIN/linux-ARCH/gophd for each architecture and the manual
// pages BIN/gophd.8 and BIN/robots.5 (make packages builds them), and writes the
// same bytes whenever it is given the same files, version and date.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk"
	_ "github.com/goreleaser/nfpm/v2/arch"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// A release is what the packages are made of.
type release struct {
	version string
	date    time.Time // of everything in the packages
	bin     string    // where the built files are
	out     string    // where the packages go
}

func main() {
	var r release
	flag.StringVar(&r.version, "version", "", "the version, such as 1.2.3")
	date := flag.Int64("date", 0, "the time of the release, in seconds since 1970")
	flag.StringVar(&r.bin, "bin", "../bin", "the directory of the binaries and manual pages")
	flag.StringVar(&r.out, "out", "../bin/packages", "the directory to write to")
	archs := flag.String("archs", "amd64,arm64", "the architectures, as Go names them")
	flag.Parse()
	r.date = time.Unix(*date, 0).UTC()
	for _, arch := range strings.Split(*archs, ",") {
		if err := r.pack(arch); err != nil {
			fmt.Fprintf(os.Stderr, "packaging: %s: %v\n", arch, err)
			os.Exit(1)
		}
	}
}

// pack writes all packages for one architecture.
func (r release) pack(arch string) error {
	if r.version == "" {
		return errors.New("no -version given")
	}
	stage, err := os.MkdirTemp("", "gophd-packaging-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(stage)
	if err := r.stage(stage, arch); err != nil {
		return fmt.Errorf("preparing the files: %w", err)
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	for _, format := range []string{"deb", "rpm", "apk", "archlinux"} {
		if err := r.writePackage(format, stage, arch); err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
	}
	if err := r.writeImage(stage, arch); err != nil {
		return fmt.Errorf("image: %w", err)
	}
	return nil
}

// stage puts into dir what has to be prepared for the packages.
func (r release) stage(dir, arch string) error {
	binary, err := os.ReadFile(filepath.Join(r.bin, "linux-"+arch, "gophd"))
	if err != nil {
		return err
	}
	staged := map[string][]byte{"gophd": binary}
	if staged["gophd.cdx.json"], err = r.billOfMaterials(filepath.Join(r.bin, "linux-"+arch,
		"gophd"), arch); err != nil {
		return err
	}
	for _, page := range []string{"gophd.8", "robots.5"} {
		if staged[page+".gz"], err = compressed(filepath.Join(r.bin, page)); err != nil {
			return err
		}
	}
	for _, unit := range []string{"gophd.service", "gophd.socket", "gophd-gemini.socket",
		"gophd-spartan.socket", "gophd-nex.socket", "gophd-finger.socket"} {
		text, err := os.ReadFile(filepath.Join("..", "examples", "systemd", unit))
		if err != nil {
			return err
		}
		staged[unit] = []byte(ofPackage.Replace(string(text)))
	}
	if staged["changelog.gz"], err = squeeze(r.debianChangelog()); err != nil {
		return err
	}
	for name, data := range staged {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// ofPackage turns a unit of examples/systemd into the one of a package, which has an account:
// logrotate works as that account in its directory, which DynamicUser=yes would hide.
var ofPackage = strings.NewReplacer(
	"/usr/local/bin/", "/usr/bin/",
	"DynamicUser=yes\n", "User=gophd\nGroup=gophd\n",
	"as a user that\n# exists only while it runs, without any right. Install:\n#\n#   make install\n#   cp examples/systemd/gophd.* /etc/systemd/system/\n#   systemctl daemon-reload\n#   systemctl enable --now gophd.socket\n",
	"as the\n# user gophd, without any right.\n",
)

// debianChangelog is the one entry that dpkg-parsechangelog and lintian expect.
func (r release) debianChangelog() []byte {
	return fmt.Appendf(nil, "gophd (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md at https://github.com/gophd/gophd for what is new.\n\n -- gophd maintainers <gophd@users.noreply.github.com>  %s\n",
		r.version, r.date.Format(time.RFC1123Z))
}

func compressed(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return squeeze(data)
}

// squeeze is gzip -9n: no name and no time in the result.
func squeeze(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// unitsAndZsh are where the systems of a package format look for systemd's units
// and zsh's completions.
var unitsAndZsh = map[string][2]string{
	"deb":       {"/lib/systemd/system", "/usr/share/zsh/vendor-completions"},
	"rpm":       {"/usr/lib/systemd/system", "/usr/share/zsh/site-functions"},
	"apk":       {"/usr/lib/systemd/system", "/usr/share/zsh/site-functions"},
	"archlinux": {"/usr/lib/systemd/system", "/usr/share/zsh/site-functions"},
}

func (r release) writePackage(format, stage, arch string) error {
	variables := map[string]string{
		"STAGE":   stage,
		"ARCH":    arch,
		"VERSION": r.version,
		"UNITS":   unitsAndZsh[format][0],
		"ZSH":     unitsAndZsh[format][1],
	}
	text, err := os.ReadFile("nfpm.yaml")
	if err != nil {
		return err
	}
	expanded := os.Expand(string(text), func(name string) string { return variables[name] })
	config, err := nfpm.Parse(strings.NewReader(expanded))
	if err != nil {
		return err
	}
	info, err := config.Get(format)
	if err != nil {
		return err
	}
	if format == "apk" { // for OpenRC
		info.Contents = slices.DeleteFunc(info.Contents, func(c *files.Content) bool {
			return strings.Contains(c.Destination, "/systemd/") ||
				strings.Contains(c.Destination, "/sysusers.d/") ||
				c.Destination == "/etc/default/gophd"
		})
	}
	info = nfpm.WithDefaults(info)
	info.MTime = r.date
	if format == "deb" {
		info.License = "" // Debian has it in the copyright file, and no such field
	}
	for _, c := range info.Contents {
		if c.FileInfo != nil {
			c.FileInfo.MTime = r.date
		}
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	info.Target = filepath.Join(r.out, packager.ConventionalFileName(info))
	return create(info.Target, func(f *os.File) error { return packager.Package(info, f) })
}

// create writes a file, which is gone again if that fails.
func create(name string, write func(*os.File) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	err = errors.Join(write(f), f.Close())
	if err != nil {
		return errors.Join(err, os.Remove(name))
	}
	fmt.Println(name)
	return nil
}
