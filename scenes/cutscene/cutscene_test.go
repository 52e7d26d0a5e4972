package cutscene

import (
	"bytes"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/manifold"
	"mannequin/animsys/mar"
	"mannequin/animsys/skel"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/models"
	stylesfree "mannequin/models/styles-free"
	stylesgram "mannequin/models/styles-gram"
	"mannequin/netruntime"
	"mannequin/scenes"
	"mannequin/scenes/cutscene/script"
	"mannequin/scenes/internal/testscene"
	"mannequin/scenes/world"
)

var nets = map[string]*netruntime.Net{}

// net opens networks once: to read them takes longer than the tests.
func net(name string) (*netruntime.Net, error) {
	if nets[name] == nil {
		n, err := models.Open(name)
		if err != nil {
			return nil, err
		}
		nets[name] = n
	}
	return nets[name], nil
}

func options(t testing.TB, text string) Options {
	t.Helper()
	sc, err := script.Read("test.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return Options{Options: world.Options{Workers: 1}, Script: sc, Net: net, Styles: stylesfree.Open, Transfers: stylesgram.Open, Dog: "dog-free", Manifold: "human", Footstep: "human-footstep", Locomotion: "human-locomotion"}
}

func open(t testing.TB, o Options) *Scene {
	t.Helper()
	return testscene.Keep(New(o))(t)
}

func seek(t testing.TB, s *Scene, at float64) {
	t.Helper()
	if err := s.Seek(at); err != nil {
		t.Fatal(err)
	}
}

const cast = `length = 4
terrain = "hills"
[[actor]]
name = "ann"
kind = "person"
at = [0, 0]
[[actor]]
name = "rex"
kind = "dog"
at = [1.3, 1.6]
facing = 200
`

const aims = `
[[look]]
actor = "ann"
target = "rex"
from = 0.2
to = 3.2
[[look]]
actor = "rex"
target = "ann"
from = 0.4
to = 3
[[reach]]
actor = "ann"
hand = "left"
target = [0.35, 1.3, 0.4]
from = 0.5
to = 3
`

const goes = `
[[move]]
actor = "rex"
from = 0.5
points = [[1.0, 2.6], [0, 3.6]]
[[style]]
actor = "ann"
name = "old"
from = 0.5
`

// A scene is the same for any number of workers, and any moment is the same however one
// comes to it.
func TestSame(t *testing.T) {
	o := options(t, cast+aims+goes)
	a := open(t, o)
	o.Workers = 3
	b := open(t, o)
	want := []uint64{a.Hash()}
	for a.now < a.ticks-1 {
		testscene.Step(t, a, 1, scenes.Input{})
		want = append(want, a.Hash())
	}
	seek(t, b, 99)
	if b.Hash() != want[len(want)-1] {
		t.Error("played by three workers, the end is another")
	}
	for _, tick := range []int{100, 7, 0, len(want) - 2} {
		seek(t, b, float64(tick)/scenes.TickRate)
		if b.Hash() != want[tick] {
			t.Fatalf("tick %d is another when it is sought", tick)
		}
		testscene.Step(t, b, 1, scenes.Input{})
		if b.Hash() != want[tick+1] {
			t.Fatalf("the tick after tick %d is another when that is sought", tick)
		}
	}
	if want[0] == want[60] || want[60] == want[120] {
		t.Error("nothing moves")
	}
	var f, g scenes.Frame
	seek(t, a, 2)
	seek(t, b, 2)
	a.Frame(&f, 1)
	b.Frame(&g, 0.3) // nothing leads over to what was sought
	for c := range f.Casts {
		for j, x := range f.Casts[c].Bones {
			if x != g.Casts[c].Bones[j] {
				t.Fatalf("bone %d is at %v and %v", j, x, g.Casts[c].Bones[j])
			}
		}
	}
}

// The player seeks with arrows and the slider, ahead by playing a little at a time, and loops.
func TestPlayer(t *testing.T) {
	s := open(t, options(t, cast))
	second := func(in scenes.Input) { testscene.Step(t, s, 1, in); testscene.Step(t, s, 60, scenes.Input{}) }
	press := func(key byte) scenes.Input { return scenes.Input{Touch: hud.Touch{Press: key}} }
	second(scenes.Input{})
	if s.now != 61 {
		t.Fatalf("after 61 steps it is tick %d", s.now)
	}
	testscene.Step(t, s, 1, press('K'))
	if second(scenes.Input{}); s.now != 61 {
		t.Errorf("paused, it is tick %d", s.now)
	}
	testscene.Step(t, s, 1, scenes.Input{Touch: hud.Touch{Move: 1}})
	if s.goal != 121 || s.now != 61+hurry {
		t.Errorf("on the way to tick %d it is tick %d", s.goal, s.now)
	}
	var f scenes.Frame
	if s.Frame(&f, 1); len(f.HUD) != 1 || f.Panel.Sliders[0].Value != float32(s.now)/60 {
		t.Errorf("%q, %+v", f.HUD, f.Panel.Sliders)
	}
	if second(scenes.Input{}); s.now != 121 || s.goal != -1 {
		t.Errorf("a second ahead is tick %d", s.now)
	}
	if second(scenes.Input{Touch: hud.Touch{Move: -0.5}}); s.now != 61 {
		t.Errorf("a second back is tick %d", s.now)
	}
	if second(scenes.Input{Touch: hud.Touch{Set: true, Value: 3.5}}); s.now != 210 {
		t.Errorf("the slider's 3.5 s are tick %d", s.now)
	}
	if second(scenes.Input{Touch: hud.Touch{Move: 1}}); s.now != 240 {
		t.Errorf("beyond the end is tick %d", s.now)
	}
	if testscene.Step(t, s, 2, press('K')); s.now != 0 {
		t.Errorf("played again from the end it is tick %d", s.now)
	}
	if second(scenes.Input{Reset: true}); s.now != 0 {
		t.Errorf("at the start it is tick %d", s.now)
	}
	testscene.Step(t, s, 1, press('K'))
	testscene.Step(t, s, 1, press('L'))
	seek(t, s, 3.9)
	if testscene.Step(t, s, 10, scenes.Input{}); s.now != 3 {
		t.Errorf("looping, tick 234 and ten are tick %d", s.now)
	}
	if s.Seconds() != 4 {
		t.Errorf("%g s", s.Seconds())
	}
}

// Those who look and reach meet what they aim at, on hills, smoothly; their legs do not know of it.
func TestAims(t *testing.T) {
	a, b := open(t, options(t, cast+aims)), open(t, options(t, cast))
	seek(t, a, 4)
	seek(t, b, 4)
	ann, rex := a.actors[0], a.actors[1]
	people, dogs := ann.group.crowd.Skel, rex.group.crowd.Skel
	head, hand, nose := people.Index("Head"), people.Index("LeftHandIndex1"), dogs.Index("Head")
	target := m3.V(0.35, 1.3+a.Terrain.Height(0.35, 0.4), 0.4)
	for tick := 110; tick < 140; tick++ {
		me, dog := ann.bones(tick), rex.bones(tick)
		off := m3.Acos(me[head].Rot.Forward().Dot(dog[nose].Apply(eyes(script.Dog)).Sub(me[head].Apply(eyes(script.Person))).Normalize(m3.Up)))
		if off > 2*math.Pi/180 {
			t.Fatalf("at tick %d she looks %.1f° aside", tick, off*180/math.Pi)
		}
		off = m3.Acos(dog[nose].Rot.Rotate(m3.V(1, 0, 0)).Dot(me[head].Apply(eyes(script.Person)).Sub(dog[nose].Pos).Normalize(m3.Up)))
		if off > 4*math.Pi/180 { // from the head's joint, which is not the eyes
			t.Fatalf("at tick %d the dog looks %.1f° aside", tick, off*180/math.Pi)
		}
		if d := me[hand].Pos.Dist(target); d > 0.01 {
			t.Fatalf("at tick %d the hand is %.1f cm off", tick, 100*d)
		}
	}
	for i, k := range [...]struct {
		sk   *skel.Skeleton
		legs []string
	}{{people, []string{"Hips", "LeftFoot", "LeftToeBase", "RightFoot", "RightToeBase"}}, {dogs, []string{"Hips", "Spine1", "LeftHand", "RightHand", "LeftFoot", "RightFoot"}}} {
		with, without := a.actors[i], b.actors[i]
		for tick := range a.ticks {
			for _, name := range k.legs {
				if j := k.sk.Index(name); with.bones(tick)[j] != without.bones(tick)[j] {
					t.Fatalf("%s has another %s at tick %d than without looking", with.Name, name, tick)
				}
			}
			if tick == 0 {
				continue
			}
			for j := range k.sk.Names {
				if d := with.bones(tick)[j].Rot.Angle(with.bones(tick - 1)[j].Rot); d > 0.22 {
					t.Errorf("%s turns %s by %.2f rad at tick %d", with.Name, k.sk.Names[j], d, tick)
				}
			}
		}
	}
	if d := ann.bones(235)[hand].Pos.Dist(b.actors[0].bones(235)[hand].Pos); d > 0.01 {
		t.Errorf("the hand is still %.1f cm off", 100*d)
	}
}

// People are where they should be when they should be, and dogs nearly so.
func TestTimes(t *testing.T) {
	s := open(t, options(t, strings.Replace(cast, "length = 4", "length = 7", 1)+`
[[move]]
actor = "ann"
from = 1
points = [[0, 2.6], [-1, 4.5]]
times = [3.2, 5]
[[action]]
actor = "ann"
do = "face"
target = [9, 0, 5.4]
from = 5
[[move]]
actor = "rex"
from = 0.5
points = [[1, -3], [1, -5]]
speed = 1.3
`))
	seek(t, s, 7)
	for _, a := range s.actors {
		for i := range a.moves {
			m := &a.moves[i]
			if a.bones(int(m.From() * 60))[0].Pos.Dist(a.bones(0)[0].Pos) > 0.2 {
				t.Errorf("%s has gone before %g s", a.Name, m.From())
			}
			for k, at := range m.Times {
				where, _ := m.Path.At(m.Arcs[k])
				if d := a.bones(int(at * 60))[0].Pos.Flat().Dist(where); d > 0.6 {
					t.Errorf("%s is %.2f m from point %d at %.2f s", a.Name, d, k, at)
				}
			}
			end, _ := m.Path.At(m.Path.Length())
			if d := a.bones(s.ticks - 1)[0].Pos.Flat().Dist(end); d > 0.35 {
				t.Errorf("%s stops %.2f m from the end", a.Name, d)
			}
		}
	}
	want := m3.YawOf(m3.V(10, 0, 0.9))
	if off := m3.WrapAngle(s.actors[0].yaws[s.ticks-1] - want); m3.Abs(off) > 0.2 {
		t.Errorf("faces %.2f rad aside", off)
	}
}

// The camera is where the script has it; cuts are told.
func TestCamera(t *testing.T) {
	s := open(t, options(t, cast+`
[[camera]]
from = 0
eye = [[0, 1, 4], [1, 2, 4], [2, 1, 4]]
times = [0, 1, 2]
target = "ann"
fov = 90
[[camera]]
from = 2
follow = "rex"
eye = [0, 1, 2]
target = [0, 1, 0]
[[camera]]
from = 3
ease = 0.5
eye = [5, 3, 5]
target = "rex"
[[caption]]
from = 1
to = 2
text = "Hello."
`))
	seek(t, s, 4)
	at := func(tick int) scenes.Frame {
		s.jump(tick)
		s.was = max(tick-1, 0)
		var f scenes.Frame
		s.Frame(&f, 1)
		return f
	}
	height := s.Terrain.Height
	if f := at(60); f.Shot.Eye.Dist(m3.V(1, 2+height(1, 4), 4)) > 1e-4 || m3.Abs(f.Shot.FOV-math.Pi/2) > 1e-6 || f.Shot.Cut || f.Caption != "Hello." {
		t.Errorf("at 1 s: %+v %q", f.Shot, f.Caption)
	}
	if f := at(60); f.Shot.Target.Dist(s.actors[0].places[60].Add(m3.V(0, 1.2, 0))) > 1e-4 {
		t.Errorf("it looks at %v", f.Shot.Target)
	}
	if a, b := at(119), at(120); a.Shot.Cut || !b.Shot.Cut || b.Shot.Eye.Dist(s.actors[1].places[120].Add(m3.V(0, 1, 2))) > 1e-4 || b.Caption != "" {
		t.Errorf("a cut: %+v, %+v", a.Shot, b.Shot)
	}
	last := at(179).Shot.Eye
	for tick := 180; tick < 240; tick++ {
		f := at(tick)
		if d := f.Shot.Eye.Dist(last); f.Shot.Cut || d > 0.4 {
			t.Errorf("what goes over jumps by %g m at tick %d", d, tick)
		}
		last = f.Shot.Eye
	}
	if last.Dist(m3.V(5, 3+height(5, 5), 5)) > 1e-4 {
		t.Errorf("it ends at %v", last)
	}
	testscene.Step(t, s, 1, scenes.Input{Touch: hud.Touch{Press: 'C'}})
	if f := at(60); f.Shot.On {
		t.Error("the camera is not given up")
	}
}

// The cameras of the shipped scripts stay out of everybody's body.
func TestCameraKeepsOff(t *testing.T) {
	const least = 0.4 // from the eye to any joint, m
	for _, name := range Shipped() {
		sc, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		o := options(t, cast)
		o.Script = sc
		s := open(t, o)
		nearest, when := float32(math.Inf(1)), 0
		for tick := range int(sc.Length * scenes.TickRate) {
			testscene.Step(t, s, 1, scenes.Input{})
			var f scenes.Frame
			s.Frame(&f, 1)
			if !f.Shot.On {
				t.Fatalf("%s: no camera at tick %d", name, tick)
			}
			for _, c := range f.Casts {
				for i := range c.Bones {
					if d := c.Bones[i].Pos.Dist(f.Shot.Eye); d < nearest {
						nearest, when = d, tick
					}
				}
			}
		}
		if nearest < least {
			t.Errorf("%s: the camera is %g m from a joint at %.1f s", name, nearest, float64(when)/scenes.TickRate)
		}
	}
}

// Ann sneaks where she would walk, without the database of other styles.
func TestGramStyle(t *testing.T) {
	const walk = "[[move]]\nactor = \"ann\"\nfrom = 0.2\npoints = [[2, 4]]\n"
	play := func(text string) *Scene {
		o := options(t, cast+walk+text)
		o.Styles = func() (*mar.Database, error) { return nil, errors.New("nobody asks for these") }
		s := open(t, o)
		seek(t, s, 3)
		return s
	}
	style := func(name string) string { return "[[style]]\nactor = \"ann\"\nfrom = 0\nname = \"" + name + "\"\n" }
	plain, sneaking := play(""), play(style("sneaking"))
	for i, a := range plain.actors {
		b := sneaking.actors[i]
		if same := slices.Equal(a.bones(plain.now), b.bones(sneaking.now)); same == (a.Name == "ann") {
			t.Errorf("%s moves the same: %v", a.Name, same)
		}
		// A window that is made anew for a style shows a turn sooner.
		if d := a.places[plain.now].Dist(b.places[sneaking.now]); d > 0.5 {
			t.Errorf("%s is %g m from where it would be without a style", a.Name, d)
		}
	}
	o := options(t, cast+style("old"))
	o.Styles = nil
	if _, err := New(o); err == nil || !strings.Contains(err.Error(), "want one of [cold drunk hurried limping marching relaxed sneaking stooped striding]") {
		t.Errorf("a style of no database: %v", err)
	}
	o = options(t, cast+style("sneaking"))
	o.Transfers = func() (*manifold.StyleSet, error) { // as those of another network
		ts, err := stylesgram.Open()
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := ts.Encode(&b); err != nil {
			return nil, err
		}
		meta, arrays, err := netruntime.DecodeArrays(b.Bytes())
		if err != nil {
			return nil, err
		}
		meta.Extra["model_checksum"] = "sha256:0"
		b.Reset()
		if err := netruntime.EncodeArrays(&b, meta, arrays, nil); err != nil {
			return nil, err
		}
		return manifold.DecodeStyleSet(b.Bytes())
	}
	if _, err := New(o); !errors.Is(err, manifold.ErrOtherModel) || !strings.Contains(err.Error(), `no style "sneaking": want one of [`) {
		t.Errorf("a style of another network: %v", err)
	}
}

// What the script names and nobody has is told with its line.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"[[look]]\nactor = \"ann\"\ntarget = \"rex.Wing\"\nfrom = 1", `test.toml:12: "rex" has no joint "Wing": want one of [Hips`},
		{"[[look]]\nactor = \"ann\"\ntarget = \"ann\"\nfrom = 1", `test.toml:12: "ann" looks at itself`},
		{"\n[[style]]\nactor = \"ann\"\nname = \"odd\"\nfrom = 1", `test.toml:13: no style "odd": want one of [cold drunk hurried limping marching relaxed sneaking stooped striding angry`},
		{"[[actor]]\nname = \"x\"\nkind = \"dog\"\nat = [3, 3]\nmodel = \"cat\"", "test.toml:12: model cat: "},
		{"[[actor]]\nname = \"x\"\nkind = \"dog\"\nat = [3, 3]\nmodel = \"human\"", "test.toml:12: model human: "},
	} {
		s, err := New(options(t, cast+c.text+"\n"))
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s\nsays %v, want %s", c.text, err, c.want)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "no.toml")); err == nil || !strings.Contains(err.Error(), "good-dog") {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := New(Options{}); err == nil {
		t.Error("a scene without a script")
	}
}

// Dogs of two models are two casts. All shipped scripts can be read.
func TestCasts(t *testing.T) {
	s := open(t, options(t, strings.Replace(cast, "length = 4", "length = 0.2", 1)+"[[actor]]\nname = \"pip\"\nkind = \"dog\"\nat = [-3, 0]\nmodel = \"dog\"\ncolour = \"#ffffff\"\n"))
	var f scenes.Frame
	s.Frame(&f, 1)
	if len(f.Casts) != 3 || f.Casts[2].Tint[0] != [3]float32{1, 1, 1} || f.Casts[0].Len() != 1 {
		t.Errorf("%d casts", len(f.Casts))
	}
	for _, name := range Shipped() {
		if _, err := Open(name); err != nil {
			t.Error(err)
		}
	}
	if n := testing.AllocsPerRun(5, func() { testscene.Step(t, s, 1, scenes.Input{}) }); n > 0 {
		t.Errorf("%g allocations in a tick", n)
	}
}
