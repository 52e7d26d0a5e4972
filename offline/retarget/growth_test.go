package retarget

import (
	"testing"

	. "mannequin/internal/testing/growth"
)

// The reader of profiles allocates a multiple of the file, for odd files, too.
func TestGrowth(t *testing.T) {
	Check(t, 400, func(b []byte) error { _, err := ReadProfile("f.toml", b); return err }, append(TOML(),
		Refused("joints", Repeat("name = \"a\"\n[joints]\n", "j@ = \"j\"\n", ""), ""),
		Refused("turn_only", Repeat("turn_only = [", "\"@\",", "]\n"+small), ""),
		Accepted("comments", Repeat("", "# a\n", small)),
	)...)
}
