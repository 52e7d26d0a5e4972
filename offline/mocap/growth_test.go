package mocap

import (
	"bytes"
	"io"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/growth"
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
	growth.Check(t, 70, func(b []byte) error { _, err := ReadBVH("f", b); return err },
		growth.Accepted("usual", func(n int) []byte { return syntheticBVH(5, n) }),
		growth.Accepted("short values", growth.Repeat(counted, "1 2 3\n", "")),
		growth.Accepted("values on one line", growth.Repeat(counted, "1 2 3 ", "")),
		growth.Refused("too many values", growth.Repeat(counted, "1 2 3\n", "1 2\n"), "it has 2 of 3 values"),
		growth.Refused("too large a count", growth.Repeat(skeleton+"MOTION\nFrames: 9@\nFrame Time: 1\n", "1 2 3\n", ""), "hold at most"),
		growth.Accepted("no count", growth.Repeat(skeleton+"MOTION\nFrames: 0\nFrame Time: 1\n", "1 2 3\n", "")),
		growth.Accepted("stray words", growth.Repeat(head, "z\n", "CHANNELS 3 Xposition Zrotation Yrotation\n}\n"+one)),
		growth.Accepted("stray braces", growth.Repeat(skeleton, "}\n", one)),
		growth.Refused("long word", growth.Repeat(head, "z", skeleton), "expected OFFSET"),
		growth.Refused("long name", growth.Repeat("HIERARCHY\nROOT ", "zzzz", ""), "at most 1024"),
		growth.Accepted("empty lines", growth.Repeat(skeleton, "\n \r\n", one)),
		growth.Accepted("joints", growth.Repeat(head, "JOINT j@\n{\nOFFSET 0 0 0\n}\n", nothing)),
		growth.Accepted("joints of one name", growth.Repeat(head, "JOINT j\n{\nOFFSET 0 0 0\n}\n", nothing)),
		growth.Accepted("End Sites", growth.Repeat(head, "End Site\n{\nOFFSET 0 0 0\n}\n", nothing)),
	)
	growth.Check(t, 20, func(b []byte) error {
		f, err := NewFrameReader("f", bytes.NewReader(b))
		for pos, rot := make([]m3.Vec3, 1), make([]m3.Quat, 1); err == nil; {
			err = f.Next(pos, rot)
		}
		if err == io.EOF {
			return nil
		}
		return err
	},
		growth.Accepted("stream", growth.Repeat(skeleton+"MOTION\nFrame Time: .01\n", "1 2 3\n", "")),
		growth.Accepted("stray words in a stream", growth.Repeat(head, "z\n", "CHANNELS 3 Xposition Zrotation Yrotation\n}\nMOTION\nFrame Time: 1\n")),
	)
	growth.Check(t, 60, func(b []byte) error { _, err := ReadASF("f", b); return err },
		growth.Refused("bones", growth.Repeat(":root\norder TX\n:bonedata\n", "begin\nname b@\ndirection 0 1 0\nlength 1\nend\n", ":hierarchy\nroot b0\nb0 b1"), "does not hang"),
		growth.Accepted("documentation", growth.Repeat(":documentation\n", "@ begin (1\n", stickASF)),
		growth.Refused("children", growth.Repeat(":root\norder TX\n:hierarchy\nroot ", "b@ ", ""), "without a bone"),
	)
	stick := must.Get(ReadASF("stick.asf", []byte(stickASF)))(t)
	growth.Check(t, 70, func(b []byte) error { _, err := stick.ReadAMC("f", b, AMCRate); return err },
		growth.Accepted("AMC", growth.Repeat("", "@\nroot 1 2 3 0 90 0\nback 90 90 0\nleg 90 0.5 2\n", "")),
		growth.Accepted("short AMC", growth.Repeat("", "@\nleg 9 1 1\n", "")),
		growth.Accepted("frames without bones", growth.Repeat("", "@\n", "")),
		growth.Accepted("comments", growth.Repeat("", "# @\n:flag\n", "1\n")),
	)
	growth.Check(t, 10, func(b []byte) error { _, err := ReadH36M("f", b); return err },
		growth.Accepted("H36M", func(n int) []byte { return testh36m.Make(n).Text }))
}
