package control

import (
	"testing"

	. "mannequin/internal/testing/growth"
)

// Readers of paths and scripts allocate a multiple of the file, for odd files, too.
func TestGrowth(t *testing.T) {
	path := func(name string) func([]byte) error {
		return func(b []byte) error { _, err := ReadPath(name, b); return err }
	}
	Check(t, 400, path("f.csv"),
		Accepted("points", Repeat("", "@,0\n", "")),
		Accepted("comments", Repeat("", "#\n\n", "0,0\n1,0")),
		Refused("long line", Repeat("", "0,", ""), "want two numbers"),
	)
	Check(t, 400, path("f.toml"), append(TOML(),
		Accepted("points", Repeat("points = [", "[@, 0],", "]")),
		Refused("keys", Repeat("", "a@ = 1\n", ""), "unknown key"),
	)...)
	const svg = "<svg><path d='M0 0 L1 1'/></svg>"
	Check(t, 400, path("f.svg"),
		Accepted("lines", Repeat("<svg><path d='M0 0", " 0 0 1 1", "'/></svg>")),
		Accepted("curves", Repeat("<svg><path d='M0 0", " C0 1 2 2 1 5", "'/></svg>")),
		Accepted("next paths", Repeat("<svg><path d='M0 0 L1 1", " M1 1", "'/></svg>")),
		Refused("long number", Repeat("<svg><path d='M0 0 L", "1", "'/></svg>"), "a number up to"),
		Refused("commas", Repeat("<svg><path d='M0 0 L", ", ", "'/></svg>"), "a number up to"),
		Accepted("comments", Repeat("<!-- ", "- ", " -->"+svg)),
		Accepted("elements", Repeat("<svg>", "<g id='@'/>", svg+"</svg>")),
		Accepted("attributes", Repeat("<svg ", " a@=''", ">"+svg+"</svg>")),
		Refused("open elements", Repeat("", "<g>", ""), "f.svg"),
		Refused("entities", Repeat("<!DOCTYPE a [", "<!ENTITY a@ '&a;&a;'>", "]>"), "f.svg"),
	)
	Check(t, 400, func(b []byte) error { _, err := ReadScript("f.toml", b); return err }, append(TOML(),
		Accepted("goals", Repeat("", "[[goal]]\nat = @\naction = \"sit\"\n", "")),
		Accepted("goals in brackets", Repeat("goal = [", "{at = @},", "]")),
	)...)
}
