package plot

import (
	"testing"

	"mannequin/internal/testing/growth"
)

// The reader of tables allocates a multiple of the file, for odd files, too.
func TestGrowth(t *testing.T) {
	growth.Check(t, 40, func(b []byte) error { _, err := readTable("f.csv", b, false); return err },
		growth.Accepted("rows", growth.Repeat("x,y\n", "@,1\n", "")),
		growth.Accepted("short rows", growth.Repeat("x,y,z\n", "1,,\n", "")),
		growth.Accepted("empty rows", growth.Repeat("x,y\n", "\n", "1,2")),
		growth.Accepted("comments", growth.Repeat("x,y\n", "#\n", "1,2")),
		growth.Refused("columns", growth.Repeat("x", ",y@", "\n1\n"), "more than 1000"),
		growth.Refused("long cell", growth.Repeat("x,y\n1,", "1", "\n2,3,4"), "cannot be drawn"),
		growth.Refused("open quote", growth.Repeat("x,y\n1,\"", "\"\"\n", ""), "quote"),
	)
}
