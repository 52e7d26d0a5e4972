package fbx

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mannequin/animsys/skin"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
)

// testCurve is a curve that tests write.
type testCurve struct {
	times         []float64 // seconds
	values        []float64
	flags         []int64
	data          [][3]float32 // slopes, biases, or tension, continuity and bias
	weights       [][2]uint32  // packed; of keys with flags for them
	before, after beyond
}

// text is the curve as records of a text file.
func (c *testCurve) text() string {
	var b strings.Builder
	list := func(name string, n int, value func(i int) any) {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprint(value(i))
		}
		fmt.Fprintf(&b, "\t\t%s: *%d {\n\t\t\ta: %s\n\t\t}\n", name, n, strings.Join(all, ","))
	}
	n := len(c.times)
	b.WriteString("\n\t\tDefault: 0\n\t\tKeyVer: 4009\n")
	list("KeyTime", n, func(i int) any { return int64(math.Round(c.times[i] * ticks)) })
	list("KeyValueFloat", n, func(i int) any { return c.values[i] })
	list("KeyAttrFlags", n, func(i int) any { return c.flags[i] })
	list("KeyAttrDataFloat", 4*n, func(i int) any {
		switch k, d := i/4, i%4; {
		case d == 3:
			return 0
		case d == 2 && c.flags[k]&cubic != 0 && c.flags[k]&tcb == 0:
			return c.weights[k][0] | c.weights[k][1]<<16
		default:
			return int32(math.Float32bits(c.data[k][d]))
		}
	})
	list("KeyAttrRefCount", n, func(int) any { return 1 })
	for i, x := range []beyond{c.before, c.after} {
		if x.how != 0 {
			fmt.Fprintf(&b, "\t\t%s-Extrapolation: {\n\t\t\tType: %c\n\t\t\tRepetition: %d\n\t\t}\n", [2]string{"Pre", "Post"}[i], x.how, x.times)
		}
	}
	return b.String()
}

// randomCurve returns a curve of five keys after three seconds, of all kinds of tangents.
func randomCurve(rng *rand.Rand) *testCurve {
	c, t := &testCurve{}, 3.0
	for range 5 {
		kinds := []int64{auto, auto | even, auto | even | gentle, auto | clamped, auto | clamped | even, auto | broken, auto | even | broken, tcb, user, user | broken}
		flags := cubic | kinds[rng.IntN(len(kinds))]
		d := [3]float32{}
		span := float32(300) // of biases, in percent
		switch rng.IntN(12) {
		case 0:
			flags = linear
		case 1:
			flags = constant
		case 2:
			flags = constant | auto
		case 3:
			flags |= weightOut
		case 4:
			flags |= weightOut | weightIn
		case 5:
			flags |= weightIn
		case 6:
			span = 1600
		}
		switch {
		case flags&tcb != 0:
			flags &^= weightOut | weightIn // there is no room for them
			span = 2
		case flags&user != 0:
			span = 8
		}
		if flags&auto == 0 || rng.IntN(2) > 0 {
			for i := range d {
				d[i] = span * (rng.Float32() - 0.5)
			}
		}
		c.times, c.values, c.flags, c.data = append(c.times, t), append(c.values, float64(rng.IntN(9)-4)), append(c.flags, flags), append(c.data, d)
		w := [2]uint32{3333, 3333}
		if flags&weightOut != 0 {
			w[0] = rng.Uint32N(9999)
		}
		if flags&weightIn != 0 {
			w[1] = rng.Uint32N(9999)
		}
		c.weights = append(c.weights, w)
		t += []float64{0.25, 0.5, 1}[rng.IntN(3)]
	}
	hows := "CRAMK"
	c.before = beyond{hows[rng.IntN(len(hows))], int64(rng.IntN(4) - 1)}
	c.after = beyond{hows[rng.IntN(len(hows))], int64(rng.IntN(4) - 1)}
	return c
}

// Curves have the values that Autodesk's SDK gives them, with all kinds of keys, and before and after the keys.
func TestCurvesAsAutodesk(t *testing.T) {
	program, err := exec.LookPath("FBX2glTF")
	if err != nil {
		t.Skip("needs FBX2glTF (the npm package fbx2gltf)")
	}
	// A file whose first curve is of another property; then come translation's and others.
	base := string(must.Get(os.ReadFile(filepath.Join(mocapdata.Dir(t), "formats/fbx-ufbx/maya_extrapolate_cube_7700_ascii.fbx")))(t))
	curves := regexp.MustCompile(`(?s)(AnimationCurve: \d+, "AnimCurve::", "" \{)(.*?)(\n\t\}\r?\n)`)
	const seconds = 9
	long := &testCurve{times: []float64{0, seconds}, values: []float64{1, 1}, flags: []int64{linear, linear}, data: make([][3]float32, 2)}
	rng := rand.New(rand.NewPCG(1, 2))
	path, out := filepath.Join(t.TempDir(), "a.fbx"), filepath.Join(t.TempDir(), "a")
	places, keys, worst := 0, 0, 0.0
	for range 150 {
		of := [3]*testCurve{randomCurve(rng), randomCurve(rng), randomCurve(rng)}
		n := -2
		text := curves.ReplaceAllStringFunc(base, func(all string) string {
			part := curves.FindStringSubmatch(all)
			if n++; n >= 0 && n < 3 {
				return part[1] + of[n].text() + part[3]
			}
			return part[1] + long.text() + part[3]
		})
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
		if said, err := exec.Command(program, "--binary", "--anim-framerate", "bake60", "--input", path, "--output", out).CombinedOutput(); err != nil {
			t.Fatalf("FBX2glTF: %v %s", err, said)
		}
		theirs := must.Get(skin.OpenMotions(out + ".glb"))(t)[0].Clip
		s := must.Get(newScene("a.fbx", []byte(text)))(t)
		var move *track
		for m, tracks := range s.stacks[0].layers[0].tracks {
			if m.name == "pCube1" {
				move = tracks[0]
			}
		}
		if move == nil || theirs.Frames < 60*seconds {
			t.Fatalf("no translations, or %d frames", theirs.Frames)
		}
		for f := range theirs.Frames {
			pos, _ := theirs.Frame(f)
			ours, at := move.at(frame(0, f, 60)), [3]float32{pos[0].X, pos[0].Y, pos[0].Z}
			for i, x := range ours {
				steps := false // they may be on the other side of a step
				for _, k := range of[i].times {
					steps = steps || math.Abs(k-float64(f)/60) < 1e-9
				}
				if before, after := move.curves[i].at(frame(0, f, 60)-2), move.curves[i].at(frame(0, f, 60)+2); steps || math.Abs(before-after) > 0.01 {
					continue
				}
				places++
				d := math.Abs(x-100*float64(at[i])) / max(1, math.Abs(x))
				if worst = max(worst, d); d > 1e-4 {
					t.Fatalf("at %.4f s: %g, theirs is %g, of %+v", float64(f)/60, x, 100*at[i], of[i])
				}
			}
		}
		keys += 15
	}
	t.Logf("%d keys, %d values, the largest difference is %.2g of the value or of 1", keys, places, worst)
}
