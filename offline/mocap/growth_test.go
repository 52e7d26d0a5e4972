package mocap

import (
	"bytes"
	"io"
	"testing"

	"mannequin/engine/m3"
	. "mannequin/internal/testing/growth"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testh36m"
)

// Readers of motion allocate a multiple of the file, for odd files, too.
func TestGrowth(t *testing.T) {
	const (
		head     = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\n"
		skeleton = head + "CHANNELS 3 Xposition Zrotation Yrotation\n}\n"
		counted  = skeleton + "MOTION\nFrames: @\nFrame Time: .01\n"
		one      = "MOTION\nFrames: 1\nFrame Time: 1\n1 2 3\n"
		nothing  = "}\nMOTION\nFrames: 0\nFrame Time: 1\n"
	)
	Check(t, 70, func(b []byte) error { _, err := ReadBVH("f", b); return err },
		Accepted("usual", func(n int) []byte { return syntheticBVH(5, n) }),
		Accepted("short values", Repeat(counted, "1 2 3\n", "")),
		Accepted("values on one line", Repeat(counted, "1 2 3 ", "")),
		Refused("too many values", Repeat(counted, "1 2 3\n", "1 2\n"), "more values"),
		Refused("too large a count", Repeat(skeleton+"MOTION\nFrames: 9@\nFrame Time: 1\n", "1 2 3\n", ""), "hold at most"),
		Accepted("no count", Repeat(skeleton+"MOTION\nFrames: 0\nFrame Time: 1\n", "1 2 3\n", "")),
		Accepted("stray words", Repeat(head, "z\n", "CHANNELS 3 Xposition Zrotation Yrotation\n}\n"+one)),
		Accepted("stray braces", Repeat(skeleton, "}\n", one)),
		Refused("long word", Repeat(head, "z", skeleton), "expected OFFSET"),
		Refused("long name", Repeat("HIERARCHY\nROOT ", "zzzz", ""), "at most 1024"),
		Accepted("empty lines", Repeat(skeleton, "\n \r\n", one)),
		Accepted("joints", Repeat(head, "JOINT j@\n{\nOFFSET 0 0 0\n}\n", nothing)),
		Accepted("joints of one name", Repeat(head, "JOINT j\n{\nOFFSET 0 0 0\n}\n", nothing)),
		Accepted("End Sites", Repeat(head, "End Site\n{\nOFFSET 0 0 0\n}\n", nothing)),
	)
	Check(t, 5, func(b []byte) error {
		f, err := NewFrameReader("f", bytes.NewReader(b))
		for pos, rot := make([]m3.Vec3, 1), make([]m3.Quat, 1); err == nil; {
			err = f.Next(pos, rot)
		}
		if err == io.EOF {
			return nil
		}
		return err
	},
		Accepted("stream", Repeat(skeleton+"MOTION\nFrame Time: .01\n", "1 2 3\n", "")),
		Accepted("stray words in a stream", Repeat(head, "z\n", "CHANNELS 3 Xposition Zrotation Yrotation\n}\nMOTION\nFrame Time: 1\n")),
	)
	Check(t, 60, func(b []byte) error { _, err := ReadASF("f", b); return err },
		Refused("bones", Repeat(":root\norder TX\n:bonedata\n", "begin\nname b@\ndirection 0 1 0\nlength 1\nend\n", ":hierarchy\nroot b0\nb0 b1"), "does not hang"),
		Accepted("documentation", Repeat(":documentation\n", "@ begin (1\n", stickASF)),
		Refused("children", Repeat(":root\norder TX\n:hierarchy\nroot ", "b@ ", ""), "without a bone"),
	)
	stick := must.Get(ReadASF("stick.asf", []byte(stickASF)))(t)
	Check(t, 70, func(b []byte) error { _, err := stick.ReadAMC("f", b, AMCRate); return err },
		Accepted("AMC", Repeat("", "@\nroot 1 2 3 0 90 0\nback 90 90 0\nleg 90 0.5 2\n", "")),
		Accepted("short AMC", Repeat("", "@\nleg 9 1 1\n", "")),
		Accepted("frames without bones", Repeat("", "@\n", "")),
		Accepted("comments", Repeat("", "# @\n:flag\n", "1\n")),
	)
	Check(t, 10, func(b []byte) error { _, err := ReadH36M("f", b); return err },
		Accepted("H36M", func(n int) []byte { return testh36m.Make(n).Text }))
}
