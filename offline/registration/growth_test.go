package registration

import (
	"strings"
	"testing"

	. "mannequin/internal/testing/growth"
)

// The reader of tables allocates a multiple of the file, for odd files, too.
func TestGrowth(t *testing.T) {
	const rest = "\"\naction = \"a\"\nstyle = \"s\"\n"
	Check(t, 1500, func(b []byte) error { _, err := ReadTable("f.toml", b); return err }, append(TOML(),
		Accepted("patterns", Repeat("", "[[pattern]]\nfiles = \"a@*"+rest, "")),
		Accepted("patterns of stars", func(n int) []byte {
			return Repeat("", "[[pattern]]\nfiles = \""+strings.Repeat("*", maxGlob)+rest, "")(n / 40)
		}),
		Accepted("clips", Repeat("", "[clip.a@]\nskip = true\n", "")),
		Refused("stars", Repeat("[[pattern]]\nfiles = \"", "*", rest), ""),
		Refused("long name", Repeat("[[pattern]]\nfiles = \"", "a", rest), ""),
		Refused("long class", Repeat("[[pattern]]\nfiles = \"[", "a", "]"+rest), ""),
	)...)
}
