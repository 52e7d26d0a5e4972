package control

import (
	"testing"

	"mannequin/internal/testing/growth"
)

// Readers of paths and scripts allocate a multiple of the file, for odd files, too.
func TestGrowth(t *testing.T) {
	path := func(name string) func([]byte) error {
		return func(b []byte) error { _, err := ReadPath(name, b); return err }
	}
	growth.Check(t, 400, path("f.csv"),
		growth.Accepted("points", growth.Repeat("", "@,0\n", "")),
		growth.Accepted("comments", growth.Repeat("", "#\n\n", "0,0\n1,0")),
		growth.Refused("long line", growth.Repeat("", "0,", ""), "want two numbers"),
	)
	growth.Check(t, 400, path("f.toml"), append(growth.TOML(),
		growth.Accepted("points", growth.Repeat("points = [", "[@, 0],", "]")),
		growth.Refused("keys", growth.Repeat("", "a@ = 1\n", ""), "unknown key"),
	)...)
	const svg = "<svg><path d='M0 0 L1 1'/></svg>"
	growth.Check(t, 400, path("f.svg"),
		growth.Accepted("lines", growth.Repeat("<svg><path d='M0 0", " 0 0 1 1", "'/></svg>")),
		growth.Accepted("curves", growth.Repeat("<svg><path d='M0 0", " C0 1 2 2 1 5", "'/></svg>")),
		growth.Accepted("next paths", growth.Repeat("<svg><path d='M0 0 L1 1", " M1 1", "'/></svg>")),
		growth.Refused("long number", growth.Repeat("<svg><path d='M0 0 L", "1", "'/></svg>"), "a number up to"),
		growth.Refused("commas", growth.Repeat("<svg><path d='M0 0 L", ", ", "'/></svg>"), "a number up to"),
		growth.Accepted("comments", growth.Repeat("<!-- ", "- ", " -->"+svg)),
		growth.Accepted("elements", growth.Repeat("<svg>", "<g id='@'/>", svg+"</svg>")),
		growth.Accepted("attributes", growth.Repeat("<svg ", " a@=''", ">"+svg+"</svg>")),
		growth.Refused("open elements", growth.Repeat("", "<g>", ""), "f.svg"),
		growth.Refused("entities", growth.Repeat("<!DOCTYPE a [", "<!ENTITY a@ '&a;&a;'>", "]>"), "f.svg"),
	)
	growth.Check(t, 400, func(b []byte) error { _, err := ReadScript("f.toml", b); return err }, append(growth.TOML(),
		growth.Accepted("goals", growth.Repeat("", "[[goal]]\nat = @\naction = \"sit\"\n", "")),
		growth.Accepted("goals in brackets", growth.Repeat("goal = [", "{at = @},", "]")),
	)...)
}
