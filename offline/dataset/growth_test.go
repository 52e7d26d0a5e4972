package dataset

import (
	"testing"

	. "mannequin/internal/testing/growth"
)

// Readers of what describes recordings allocate a multiple of the file, for odd files, too.
func TestGrowth(t *testing.T) {
	Check(t, 400, func(b []byte) error { _, err := parseSource("f", b); return err }, append(TOML(),
		Accepted("held out", Repeat("name = \"a\"\ndata = \"b\"\nlicence = \"c\"\nheld_out = [", "\"@\",", "]")),
		Refused("keys", Repeat("", "a@ = 1\n", ""), "unknown key"),
	)...)
	Check(t, 150, func(b []byte) error { _, err := parseLabels(b); return err },
		Accepted("recordings", Repeat(`{"a": {"frames": 1}`, `,"a@": {"frames": 1, "train_range_0based": [[0, 0]]}`, "}")),
		Accepted("ranges", Repeat(`{"a": {"frames": 9, "train_range_0based": [[0, 1]`, ",[0,1]", "]}}")),
		Refused("labels", Repeat(`{"a": {"frames": 9, "segments_0based_inclusive": {"a": []`, `,"a@":[]`, "}}}"), "unknown label"),
		Refused("open brackets", Repeat(`{"a": `, "[", ""), ""),
		Refused("empty lines", Repeat("", "\n", "x"), "line "),
	)
}
