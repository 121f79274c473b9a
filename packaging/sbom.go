package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// billOfMaterials is what a binary was built from, in CycloneDX's JSON: the
// modules that the Go linker has noted in it, with their checksums.
func (r release) billOfMaterials(binary, arch string) ([]byte, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("reading what %s was built from: %w", binary, err)
	}
	self := "pkg:golang/" + info.Main.Path + "@" + r.version + "?goos=linux&goarch=" + arch
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{
		Timestamp: r.date.Format(time.RFC3339),
		Component: &cdx.Component{
			BOMRef:     self,
			Type:       cdx.ComponentTypeApplication,
			Name:       "gophd",
			Version:    r.version,
			PackageURL: self,
			Licenses:   &cdx.Licenses{{License: &cdx.License{ID: "ISC"}}},
		},
	}
	std := cdx.Component{
		BOMRef:     "std",
		Type:       cdx.ComponentTypeLibrary,
		Name:       "std",
		Version:    strings.TrimPrefix(info.GoVersion, "go"),
		PackageURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"),
	}
	components, refs := []cdx.Component{std}, []string{"std"}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		purl := "pkg:golang/" + m.Path + "@" + m.Version
		c := cdx.Component{
			BOMRef:     purl,
			Type:       cdx.ComponentTypeLibrary,
			Name:       m.Path,
			Version:    m.Version,
			PackageURL: purl,
		}
		if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum,
			"h1:")); err == nil && len(sum) > 0 {
			c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
		}
		components, refs = append(components, c), append(refs, purl)
	}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: self, Dependencies: &refs}}
	var b bytes.Buffer
	enc := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true)
	if err := enc.Encode(bom); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
