package mocap

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// stickASF is a body of three bones that has one of everything.
const stickASF = `# a comment
:version 1.10
:name stick
:units
  mass 1.0
  length 0.45
  angle deg
:documentation
  begin, end and (1 2) mean nothing here
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 1 0
  orientation 0 0 0
:bonedata
  begin
    id 1
    name back # the spine
    direction 0 1 0
    length 4
    axis 0 0 0 XYZ
    dof rx ry rz
    limits (-90 90)
           (-inf inf)
           (-90 90)
    bodymass 12
  end
  begin
    id 2
    name hip
    direction 0 -2 0
    length 1.5
    axis 0 0 20 XYZ
  end
  begin
    id 3
    name leg
    direction 0 0 1
    length 3
    axis 0 0 90 XYZ
    dof rx tz l
  end
:hierarchy
  begin
    root back hip
    hip leg
  end
`

const stickAMC = `#!OML:ASF a comment
:FULLY-SPECIFIED
:DEGREES
1
root 1 2 3 0 90 0
back 90 90 0
leg 90 0.5 2
2
root 1 2 4 0 0 0
back 0 0 0
leg 0 0 0
`

// describeASF lists joints with their parents, offsets and channels.
func describeASF(a *ASF) string {
	var b strings.Builder
	for j, n := range a.Skel.Names {
		o := a.Skel.Offsets[j]
		letters := ""
		for _, c := range a.channels[j] {
			letters += strings.ToLower(c.String()[:1])
		}
		site := ""
		if a.Skel.EndSite[j] {
			site = "!"
		}
		fmt.Fprintf(&b, "%s%s<%d(%.4g %.4g %.4g)%s ", n, site, a.Skel.Parents[j], o.X, o.Y, o.Z, letters)
	}
	return b.String() + fmt.Sprintf("%.6f", a.MetresPerUnit)
}

func TestReadASF(t *testing.T) {
	const stick = "root<-1(0 1 0)xyzzyx back<0(0 0 0)zyx backSite!<1(0 4 0) hip<0(0 0 0)zyx leg<3(0 -1.5 0)xyzzyx legSite<4(0 0 3)xyz 0.056444"
	at := func(section string) int { return strings.Index(stickASF, section) }
	// Hierarchy first, then bones, then root and units: sections may have any order.
	turned := stickASF[at(":hierarchy"):] + stickASF[at(":bonedata"):at(":hierarchy")] + stickASF[:at(":bonedata")]
	// The bone that hangs on the root last may come first.
	swapped := strings.Replace(stickASF, "    root back hip\n    hip leg\n", "    hip leg\n    ROOT back\n\n    root hip\n", 1)
	for name, text := range map[string]string{
		"as it is": stickASF, "BOM, CRLF": "\xef\xbb\xbf" + strings.ReplaceAll(stickASF, "\n", "\r\n"), "old Mac": strings.ReplaceAll(stickASF, "\n", "\r"),
		"sections the other way round": turned, "hierarchy the other way round": swapped,
		"upper case":         strings.NewReplacer("dof rx tz l", "DOF RX TZ L", ":bonedata", ":BONEDATA", "begin", "BEGIN", "length", "Length").Replace(stickASF),
		"tabs and no indent": strings.ReplaceAll(strings.ReplaceAll(stickASF, "  ", ""), " ", "\t"),
		"unknown section":    strings.Replace(stickASF, ":root", ":skin\n begin\n nothing\n:root", 1),
	} {
		a, err := ReadASF(name, []byte(text))
		if err != nil {
			t.Error(err)
			continue
		}
		if got := describeASF(a); got != stick || a.Skel.Validate() != nil {
			t.Errorf("%s:\n got %s\nwant %s", name, got, stick)
		}
	}
	odd := strings.NewReplacer("length 0.45", "", "name back", "name b\x7fk{", "root back", "root b\x7fk{").Replace(stickASF)
	a := must.Get(ReadASF("odd", []byte(odd)))(t)
	if a.MetresPerUnit != 0 || a.Skel.Names[1] != "b?k?" {
		t.Errorf("%g metres, %q", a.MetresPerUnit, a.Skel.Names[1])
	}
}

// A bone's axes turn about x first in the order XYZ, z first in ZYX, in degrees or radians.
func TestASFAxes(t *testing.T) {
	for _, c := range []struct {
		unit, axis string
		want       mat
	}{
		{"deg", "10 20 30 XYZ", axisMat(2, 30).mul(axisMat(1, 20)).mul(axisMat(0, 10))},
		{"deg", "10 20 30 zyx", axisMat(0, 10).mul(axisMat(1, 20)).mul(axisMat(2, 30))},
		{"rad", "0.1 0.2 0.3 YZX", axisMat(0, 18/math.Pi).mul(axisMat(2, 54/math.Pi)).mul(axisMat(1, 36/math.Pi))},
	} {
		text := strings.NewReplacer("angle deg", "angle "+c.unit, "axis 0 0 90 XYZ", "axis "+c.axis).Replace(stickASF)
		a := must.Get(ReadASF("f", []byte(text)))(t)
		q := a.bones[a.index["leg"]].axes
		if e := c.want.angleTo(m3.Quat{X: float32(q[1]), Y: float32(q[2]), Z: float32(q[3]), W: float32(q[0])}); !(e <= 1e-4) {
			t.Errorf("axis %s in %s is %g° off", c.axis, c.unit, e)
		}
	}
}

func TestASFErrors(t *testing.T) {
	edit := func(old, text string) string {
		if !strings.Contains(stickASF, old) {
			t.Fatalf("%q is not in the file", old)
		}
		return strings.Replace(stickASF, old, text, 1)
	}
	chain := func(n int) string {
		var bones, links strings.Builder
		for j := range n {
			fmt.Fprintf(&bones, "begin\nname b%d\ndirection 1 0 0\nlength 1\nend\n", j)
			if j > 0 {
				fmt.Fprintf(&links, "b%d b%d\n", j-1, j)
			}
		}
		return ":root\norder rx\n:bonedata\n" + bones.String() + ":hierarchy\nroot b0\n" + links.String()
	}
	for _, c := range []struct{ text, want string }{
		{"", `f:1: the file ends without the section :root`},
		{"\n\nHIERARCHY", `f:3: expected a section of an ASF, such as :root or :bonedata, found "HIERARCHY"`},
		{stickASF[:strings.Index(stickASF, ":bonedata")], `f:15: the file ends without a bone in the section :bonedata`},
		{stickASF[:strings.Index(stickASF, ":hierarchy")], `f:43: the file ends without bones in the section :hierarchy`},
		{stickASF[:strings.Index(stickASF, "bodymass")], `f:26: the file ends before the "end" of bone "back"`},
		{edit("  order TX TY TZ RX RY RZ\n", ""), `f:10: expected "order"`},
		{edit("RX RY RZ", "RX RY l"), `f:11: the root has no length`},
		{edit("RX RY RZ", "RX RY RX"), `f:11: the degree of freedom rx of the root is listed twice`},
		{edit("axis XYZ", "axis XYX"), `f:12: expected the order of the axes of the root, such as XYZ, found "XYX"`},
		{edit("axis XYZ", "axis"), `f:12: expected the order of the axes of the root, such as XYZ, found the end of the line`},
		{edit("axis XYZ", "axis XYZ 1"), `f:12: expected the end of the line after the root's axis, found "1"`},
		{edit("position 0 1", "position 0 x"), `f:13: expected the position of the root, y, a number, found "x"`},
		{edit(":bonedata", ":root\n:bonedata"), `f:15: a second :root`},
		{edit("axis XYZ", "order rx"), `f:12: a second order of the root`},
		{edit("length 0.45", "length 0"), `f:6: the length of :units is 0: expected a factor`},
		{edit("angle deg", "angle turns"), `f:7: expected deg or rad, the angle of :units, found "turns"`},
		{edit("angle deg", "angle deg deg"), `f:7: expected the end of the line after the unit, found "deg"`},
		{edit("  begin\n    id 1", "    id 1"), `f:16: expected "begin"`},
		{edit("    bodymass 12\n  end\n", ""), `f:26: expected "end" of bone "back", found another "begin"`},
		{edit("    dof rx tz l\n  end\n", ""), `f:41: expected "end" of bone "leg", found the section ":hierarchy"`},
		{edit("    name hip\n", ""), `f:33: expected the name of bone "" before its "end"`},
		{edit("    direction 0 -2 0\n", ""), `f:33: expected the direction of bone "hip" before its "end"`},
		{edit("    length 1.5\n", ""), `f:33: expected the length of bone "hip" before its "end"`},
		{edit("name hip", "name"), `f:30: expected the name of a bone, found the end of the line`},
		{edit("name hip", "name leg"), `f:37: a second bone "leg"`},
		{edit("name hip", "name hip\n name hop"), `f:31: a second name of bone "hip"`},
		{edit("name hip", "name Root"), `f:30: a bone cannot be called "Root"`},
		{edit("name hip", "name 12"), `f:30: a bone cannot be called "12": in an AMC file that is no bone`},
		{edit("name hip", "name "+strings.Repeat("n", 2000)), `f:30: a bone name of 2000 bytes, at most 1024 are allowed`},
		{edit("direction 0 -2 0", "direction 0 -2"), `f:31: expected the direction of bone "hip", z, a number, found the end of the line`},
		{edit("direction 0 -2 0", "direction 0 -2 0 0"), `f:31: expected the end of the line after the direction of bone "hip", found "0"`},
		{edit("direction 0 -2 0", "direction 0 0 0"), `f:28: bone "hip" is 1.5 long, but its direction is 0`},
		{edit("length 1.5", "length -1.5"), `f:32: the length of bone "hip" is -1.5: expected none below 0`},
		{edit("length 1.5", "length 1e10"), `f:32: the length of bone "hip" is 1e10: beyond ±1e+09`},
		{edit("axis 0 0 20 XYZ", "axis 0 0 nan XYZ"), `f:33: expected the axis of bone "hip", z, a number, found "nan"`},
		{edit("axis 0 0 20 XYZ", "axis 0 0 20 XY"), `f:33: expected the order of the axes of bone "hip", such as XYZ, found "XY"`},
		{edit("dof rx ry rz", "dof rx rw"), `f:22: expected a degree of freedom of bone "back", one of tx ty tz rx ry rz l, found "rw"`},
		{edit("dof rx ry rz", "dof rx\ndof ry"), `f:23: a second dof of bone "back"`},
		{edit("hip leg", "hip leg\n back leg"), `f:47: "leg" hangs on "hip" already, it cannot hang on "back" too`},
		{edit("hip leg", "hip"), `f:46: expected the bones that hang on "hip", found the end of the line`},
		{edit("hip leg", "hip arm"), `f:46: the section :hierarchy names "arm", which is no bone of :bonedata`},
		{edit("hip leg", "hop leg"), `f:46: the section :hierarchy names "hop", which is no bone of :bonedata`},
		{edit("hip leg", "hip root"), `f:46: the section :hierarchy names "root", which is no bone of :bonedata`},
		{edit("hip leg", "leg leg"), `f:35: bone "leg" does not hang on the root: name it in the section :hierarchy, behind its parent`},
		{edit("    hip leg\n", ""), `f:35: bone "leg" does not hang on the root`},
		{chain(skel.MaxDepth), `joint "b255" is nested deeper than 256`},
		{chain(skel.MaxDepth - 1), `joint "b254Site" is nested deeper than 256`},
		{chain(skel.MaxJoints + 1), `f:20484: more than 4096 bones`},
		{":root\norder rx\n:hierarchy\nroot" + func() (s string) {
			for j := range skel.MaxJoints + 1 {
				s += fmt.Sprintf(" %x", j)
			}
			return s
		}(), `f:4: more than 4096 bones`},
	} {
		_, err := ReadASF("f", []byte(c.text))
		refused(t, err, c.want)
	}
	if _, err := ReadASF("f", []byte(chain(skel.MaxDepth-2))); err != nil {
		t.Error(err)
	}
}

func FuzzReadASF(f *testing.F) {
	f.Add([]byte(stickASF))
	f.Add([]byte(strings.ReplaceAll(stickASF, "\n", "\r\n")))
	f.Add([]byte(":root\norder RX\n:hierarchy\nroot a\n:bonedata\nbegin\nname a\ndirection 1 1 1\nlength 2\naxis 1 2 3 ZXY\ndof rz l tx\nend"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := ReadASF("fuzz", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz:") {
				t.Fatal(err)
			}
			return
		}
		must.Do(t, a.Skel.Validate())
		b := must.Get(a.ReadAMC("fuzz", []byte("1\n"), AMCRate))(t)
		again := rewritten(t, b)
		must.Do(t, sameClip(b.Clip, again.Clip, 0, 0))
	})
}
