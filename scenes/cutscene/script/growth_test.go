package script

import (
	"testing"

	. "mannequin/internal/testing/growth"
)

// The reader of scripts allocates a multiple of the file, for odd files, too.
func TestGrowth(t *testing.T) {
	Check(t, 700, func(b []byte) error { _, err := Read("f.toml", b); return err }, append(TOML(),
		Refused("actors", Repeat("length = 3\n", "[[actor]]\nname = \"a@\"\nkind = \"dog\"\nat = [0, 0]\n", ""), ""),
		Refused("faults", Repeat("length = 3\n", "[[caption]]\n", ""), ""),
		Refused("moves of nobody", Repeat(head, "[[move]]\nactor = \"bob\"\n", ""), ""),
		Refused("unknown keys", Repeat(head, "a@ = 1\n", ""), "unknown key"),
		Accepted("comments", Repeat(head, "# [[actor]]\n", "")),
		Refused("long text", Repeat(head+"title = \"\"\"", "a\n", "\"\"\""), "title"),
	)...)
}
