package retarget

import (
	"testing"

	"mannequin/internal/testing/growth"
)

// The reader of profiles allocates a multiple of the file, for odd files, too.
func TestGrowth(t *testing.T) {
	growth.Check(t, 400, func(b []byte) error { _, err := ReadProfile("f.toml", b); return err }, append(growth.TOML(),
		growth.Refused("joints", growth.Repeat("name = \"a\"\n[joints]\n", "j@ = \"j\"\n", ""), ""),
		growth.Refused("turn_only", growth.Repeat("turn_only = [", "\"@\",", "]\n"+small), ""),
		growth.Accepted("comments", growth.Repeat("", "# a\n", small)),
	)...)
}
