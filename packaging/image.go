package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// The account in the image; nothing in it belongs to it.
const imageUser = "65532:65532"

// writeImage writes an image with the program and nothing else, as a tar that "docker load", "podman load" and "skopeo copy docker-archive:" take:
//
//	docker load -i gophd_1.2.3_amd64.image.tar
//	docker run -p 70:7070 -v ./content:/srv/gopher:ro gophd:1.2.3
func (r release) writeImage(stage, arch string) error {
	layer, err := r.layer(stage)
	if err != nil {
		return err
	}
	image, err := mutate.ConfigFile(mutate.MediaType(empty.Image, types.OCIManifestSchema1),
		&v1.ConfigFile{
			Architecture: arch,
			OS:           "linux",
			Created:      v1.Time{Time: r.date},
			RootFS:       v1.RootFS{Type: "layers"},
			Config: v1.Config{
				User:         imageUser,
				ExposedPorts: map[string]struct{}{"7070/tcp": {}},
				Entrypoint:   []string{"/usr/bin/gophd"},
				Cmd:          []string{"-root", "/srv/gopher", "-listen", ":7070"},
				StopSignal:   "SIGTERM",
				Labels: map[string]string{
					"org.opencontainers.image.title":    "gophd",
					"org.opencontainers.image.version":  r.version,
					"org.opencontainers.image.licenses": "ISC",
					"org.opencontainers.image.source":   "https://github.com/gophd/gophd",
				},
			},
		})
	if err != nil {
		return err
	}
	image, err = mutate.Append(image, mutate.Addendum{
		Layer:   layer,
		History: v1.History{Created: v1.Time{Time: r.date}, CreatedBy: "gophd " + r.version},
	})
	if err != nil {
		return err
	}
	tag, err := name.NewTag("gophd:" + r.version)
	if err != nil {
		return err
	}
	target := filepath.Join(r.out, fmt.Sprintf("gophd_%s_%s.image.tar", r.version, arch))
	return create(target, func(f *os.File) error { return tarball.Write(tag, image, f) })
}

// layer is the file system of the image.
func (r release) layer(stage string) (v1.Layer, error) {
	binary, err := os.ReadFile(filepath.Join(stage, "gophd"))
	if err != nil {
		return nil, err
	}
	bill, err := os.ReadFile(filepath.Join(stage, "gophd.cdx.json"))
	if err != nil {
		return nil, err
	}
	passwd := []byte("root:x:0:0:root:/:/sbin/nologin\ngophd:x:65532:65532:Gopher server:/:/sbin/nologin\n")
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range []struct {
		name string
		mode int64
		data []byte
	}{
		{"etc/", 0o755, nil}, {"etc/passwd", 0o644, passwd}, {"srv/", 0o755, nil},
		{"srv/gopher/", 0o755, nil},
		{"usr/", 0o755, nil}, {"usr/bin/", 0o755, nil}, {"usr/bin/gophd", 0o755, binary},
		{"usr/share/", 0o755, nil}, {"usr/share/doc/", 0o755, nil},
		{"usr/share/doc/gophd/", 0o755, nil},
		{"usr/share/doc/gophd/gophd.cdx.json", 0o644, bill},
	} {
		h := &tar.Header{
			Name:     e.name,
			Mode:     e.mode,
			Size:     int64(len(e.data)),
			ModTime:  r.date,
			Typeflag: tar.TypeReg,
			Format:   tar.FormatUSTAR,
		}
		if e.data == nil {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(b.Bytes())), nil
	},
		tarball.WithMediaType(types.OCILayer))
}
