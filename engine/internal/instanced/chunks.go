package instanced

import (
	"embed"
	"strings"
)

//go:embed shaders
var files embed.FS

// Chunks returns the parts that the programs of crowds include, by name.
func Chunks() map[string]string {
	chunks := map[string]string{}
	all, err := files.ReadDir("shaders")
	if err != nil {
		panic(err) // they are embedded
	}
	for _, f := range all {
		b, err := files.ReadFile("shaders/" + f.Name())
		if err != nil {
			panic(err)
		}
		chunks["mannequin_"+strings.TrimSuffix(f.Name(), ".glsl")] = string(b)
	}
	return chunks
}
