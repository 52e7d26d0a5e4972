package registration

import (
	"strings"
	"testing"

	"mannequin/internal/testing/growth"
)

// The reader of tables allocates a multiple of the file, for odd files, too.
func TestGrowth(t *testing.T) {
	const rest = "\"\naction = \"a\"\nstyle = \"s\"\n"
	growth.Check(t, 1500, func(b []byte) error { _, err := ReadTable("f.toml", b); return err }, append(growth.TOML(),
		growth.Accepted("patterns", growth.Repeat("", "[[pattern]]\nfiles = \"a@*"+rest, "")),
		growth.Accepted("patterns of stars", func(n int) []byte {
			return growth.Repeat("", "[[pattern]]\nfiles = \""+strings.Repeat("*", maxGlob)+rest, "")(n / 40)
		}),
		growth.Accepted("clips", growth.Repeat("", "[clip.a@]\nskip = true\n", "")),
		growth.Refused("stars", growth.Repeat("[[pattern]]\nfiles = \"", "*", rest), ""),
		growth.Refused("long name", growth.Repeat("[[pattern]]\nfiles = \"", "a", rest), ""),
		growth.Refused("long class", growth.Repeat("[[pattern]]\nfiles = \"[", "a", "]"+rest), ""),
	)...)
}
