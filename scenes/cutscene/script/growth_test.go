package script

import (
	"testing"

	"mannequin/internal/testing/growth"
)

// The reader of scripts allocates a multiple of the file, for odd files, too.
func TestGrowth(t *testing.T) {
	growth.Check(t, 700, func(b []byte) error { _, err := Read("f.toml", b); return err }, append(growth.TOML(),
		growth.Refused("actors", growth.Repeat("length = 3\n", "[[actor]]\nname = \"a@\"\nkind = \"dog\"\nat = [0, 0]\n", ""), ""),
		growth.Refused("faults", growth.Repeat("length = 3\n", "[[caption]]\n", ""), ""),
		growth.Refused("moves of nobody", growth.Repeat(head, "[[move]]\nactor = \"bob\"\n", ""), ""),
		growth.Refused("unknown keys", growth.Repeat(head, "a@ = 1\n", ""), "unknown key"),
		growth.Accepted("comments", growth.Repeat(head, "# [[actor]]\n", "")),
		growth.Refused("long text", growth.Repeat(head+"title = \"\"\"", "a\n", "\"\"\""), "title"),
	)...)
}
