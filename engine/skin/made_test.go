package skin

import (
	"bytes"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/body"
	"mannequin/engine/m3"
)

// skeleton reads joints from lines of "name parent x y z"; - is no parent.
func skeleton(t testing.TB, text string) *skel.Skeleton {
	t.Helper()
	s := &skel.Skeleton{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		var v [3]float32
		for i := range v {
			v[i] = number(t, f[2+i])
		}
		s.Names, s.Parents = append(s.Names, f[0]), append(s.Parents, int16(s.Index(f[1])))
		s.Offsets, s.EndSite = append(s.Offsets, m3.V(v[0], v[1], v[2])), append(s.EndSite, strings.HasSuffix(f[0], "Site"))
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	return s
}

// person has the joints of people's scenes; numbers are round.
func person(t testing.TB) *skel.Skeleton {
	text := `Hips - 0 0 0
LowerBack Hips 0 0 0
Spine LowerBack 0 0.117 -0.010
Spine1 Spine 0 0.117 -0.002
Neck Spine1 0 0 0
Neck1 Neck 0 0.0936 0.009
Head Neck1 0 0.0924 -0.014
HeadSite Head 0 0.0964 -0.006
`
	for i, s := range []string{"Left", "Right"} {
		x := "0."
		if i == 1 {
			x = "-0."
		}
		text += strings.NewReplacer("@", s, "±0.", x).Replace(`@UpLeg Hips ±0.091 -0.1 0.042
@Leg @UpLeg 0 -0.4065 0
@Foot @Leg 0 -0.427 0
@ToeBase @Foot 0 -0.029 0.1176
@ToeBaseSite @ToeBase 0 0 0.061
@Shoulder Spine1 0 0 0
@Arm @Shoulder ±0.185 0.059 -0.009
@ForeArm @Arm ±0.2965 0 0
@Hand @ForeArm ±0.186 0 0
@HandIndex1 @Hand ±0.038 0 0
@HandIndex1Site @HandIndex1 ±0.031 0 0
`)
	}
	return skeleton(t, text)
}

// dog has the joints of dogs' scenes, every bone along +X as in their recordings.
func dog(t testing.TB) *skel.Skeleton {
	text := `Hips - 0 0.46 0
Spine Hips 0 0 0
Spine1 Spine 0.19 0 0
Neck Spine1 0.22 0 0
Head Neck 0.14 0 0
HeadSite Head 0.17 0 0
Tail Hips 0.07 0 0
Tail1 Tail 0.12 0 0
Tail1Site Tail1 0.12 0 0
`
	for i, s := range []string{"Left", "Right"} {
		z := "0."
		if i == 1 {
			z = "-0."
		}
		text += strings.NewReplacer("@", s, "±0.", z).Replace(`@Shoulder Spine1 0.2 0.04 ±0.04
@Arm @Shoulder 0.08 0 0
@ForeArm @Arm 0.15 0 0
@Hand @ForeArm 0.18 0 0
@HandSite @Hand 0.07 0 0
@UpLeg Hips 0.06 -0.075 ±0.05
@Leg @UpLeg 0.16 0 0
@Foot @Leg 0.18 0 0
@FootSite @Foot 0 -0.11 0
`)
	}
	return skeleton(t, text)
}

// grown returns the body that a skeleton has without a skin.
func grown(t testing.TB, sk *skel.Skeleton) *body.Body {
	t.Helper()
	b, err := body.New(&body.Rig{Names: sk.Names, Parents: sk.Parents, Offsets: sk.Offsets})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// written returns the GLB of a body.
func written(t testing.TB, sk *skel.Skeleton, b *body.Body, clip *skel.Clip) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, sk, b, [3]float32{0.1, 0.2, 0.4}, clip); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
