package dataset

import (
	"testing"

	"mannequin/internal/testing/growth"
)

// Readers of what describes recordings allocate a multiple of the file, for odd files, too.
func TestGrowth(t *testing.T) {
	growth.Check(t, 400, func(b []byte) error { _, err := parseSource("f", b); return err }, append(growth.TOML(),
		growth.Accepted("held out", growth.Repeat("name = \"a\"\ndata = \"b\"\nlicence = \"c\"\nheld_out = [", "\"@\",", "]")),
		growth.Refused("keys", growth.Repeat("", "a@ = 1\n", ""), "unknown key"),
	)...)
	growth.Check(t, 150, func(b []byte) error { _, err := parseLabels(b); return err },
		growth.Accepted("recordings", growth.Repeat(`{"a": {"frames": 1}`, `,"a@": {"frames": 1, "train_range_0based": [[0, 0]]}`, "}")),
		growth.Accepted("ranges", growth.Repeat(`{"a": {"frames": 9, "train_range_0based": [[0, 1]`, ",[0,1]", "]}}")),
		growth.Refused("labels", growth.Repeat(`{"a": {"frames": 9, "segments_0based_inclusive": {"a": []`, `,"a@":[]`, "}}}"), "unknown label"),
		growth.Refused("open brackets", growth.Repeat(`{"a": `, "[", ""), ""),
		growth.Refused("empty lines", growth.Repeat("", "\n", "x"), "line "),
	)
}
