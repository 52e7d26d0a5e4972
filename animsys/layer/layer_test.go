package layer

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/blend"
	"mannequin/animsys/generator"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

const dt = 1.0 / 60

// chain is a skeleton of three joints above each other.
func chain() *skel.Skeleton {
	return &skel.Skeleton{Names: []string{"Hips", "Spine", "Head"}, Parents: []int16{-1, 0, 1},
		Offsets: []m3.Vec3{{}, m3.V(0, 0.5, 0), m3.V(0, 0.3, 0)}, EndSite: make([]bool, 3)}
}

// clipOf returns a clip of chain whose Spine turns about X by angle(s).
func clipOf(t testing.TB, sk *skel.Skeleton, fps float64, frames int, angle func(s float32) float32, markers ...Marker) *Clip {
	t.Helper()
	c := skel.NewClip(sk, fps, frames)
	for f := range frames {
		pos, rot := c.Frame(f)
		pos[0], rot[1] = m3.V(0, 1, 0), pitch(angle(float32(float64(f)/fps)))
	}
	return must.Get(New(sk, c, ClipOptions{Name: "test", Markers: markers}))(t)
}

func pitch(a float32) m3.Quat { return m3.AxisAngle(m3.V(1, 0, 0), a) }

// stage plays a player of one row over a Spine that is turned by base(s).
type stage struct {
	*Player
	last *blend.Inertial
	base func(s float32) float32
	tick int
	hips m3.Vec3
}

func newStage(t testing.TB, sk *skel.Skeleton, base func(s float32) float32) *stage {
	return &stage{Player: must.Get(NewPlayer(1, sk))(t), last: blend.NewInertial(1, sk.Parents), base: base}
}

// step returns by what angle the Spine is turned after a tick, and the marks.
func (s *stage) step() (float32, []Mark) {
	marks := s.Advance(0, dt, nil)
	pos, rot := []m3.Vec3{m3.V(0, 1, 0), {}, {}}, []m3.Quat{m3.Ident, pitch(s.base(float32(s.tick) * dt)), m3.Ident}
	s.last.Run(pos, rot, []m3.Xform{m3.Identity}, 0, 1)
	s.Pose(0, &pos[0], rot, &Below{Root: m3.Identity, DT: dt, Last: s.last})
	s.tick++
	s.hips = pos[0]
	return rot[1].RotationVector().X, marks
}

// A joint that turns one way keeps its velocity where a clip turns it the other way, and where the clip
// ends: its acceleration is what the blend needs, and not a step's.
func TestBlendKeepsVelocity(t *testing.T) {
	sk := chain()
	s := newStage(t, sk, func(s float32) float32 { return 0.5 * m3.Sin(4*s) })
	clip := clipOf(t, sk, 60, 61, func(s float32) float32 { return 0.6 - 2*s })
	var a [3]float32
	var most float32
	for tick := range 200 {
		if tick == 30 {
			must.Do(t, s.Play(0, clip, PlayOptions{In: 0.3, Out: 0.3}))
		}
		x, _ := s.step()
		if a = [3]float32{a[1], a[2], x}; tick > 2 {
			most = max(most, m3.Abs(a[2]-2*a[1]+a[0])/(dt*dt))
		}
		switch want := s.base(float32(tick) * dt); {
		case tick == 60 && m3.Abs(x-(0.6-2*30*dt)) > 1e-4:
			t.Errorf("after the blend the joint is at %g, the clip at %g", x, 0.6-2*30*dt)
		case tick > 90+19 && m3.Abs(x-want) > 1e-6:
			t.Fatalf("tick %d: the joint is at %g, without a clip at %g", tick, x, want)
		}
	}
	if most > 150 { // a step from 2 to −2 rad/s would be 240
		t.Errorf("it is accelerated by %g rad/s²", most)
	}
	if s.Busy(0) {
		t.Error("the row is still busy")
	}
}

// A loop goes on over its seam as it does anywhere, whether its last frame repeats the first or not, at
// any speed.
func TestLoopHasNoSeam(t *testing.T) {
	sk := chain()
	wave := func(s float32) float32 { return 0.4 * m3.Sin(2*math.Pi*s) }
	for _, frames := range []int{30, 31} {
		for _, speed := range []float32{1, 0.3, 2.7} {
			s := newStage(t, sk, func(float32) float32 { return 0 })
			clip := clipOf(t, sk, 30, frames, wave)
			if got := clip.Seconds(true); math.Abs(got-1) > 1e-9 {
				t.Fatalf("%d frames loop in %g s", frames, got)
			}
			must.Do(t, s.Play(0, clip, PlayOptions{Loop: true, In: -1, Speed: speed}))
			for tick := range 400 {
				x, _ := s.step()
				if want := wave(speed * float32(tick) * dt); m3.Abs(x-want) > 2e-3 {
					t.Fatalf("%d frames at speed %g, tick %d: %g, want %g", frames, speed, tick, x, want)
				}
			}
		}
	}
}

// Weights, layers and masks: a weight is a share of the way, an additive clip adds to what is below, a
// mask leaves joints, and a higher layer lies over a lower one.
func TestLayers(t *testing.T) {
	sk := chain()
	at := func(a float32) *Clip { return clipOf(t, sk, 60, 2, func(s float32) float32 { return a }) }
	rise := clipOf(t, sk, 60, 61, func(s float32) float32 { return 0.2 + s })
	head := must.Get(Joints(sk, "Head"))(t)
	for name, c := range map[string]struct {
		want float32
		play []PlayOptions
		clip []*Clip
	}{
		"half":          {0.4, []PlayOptions{{Weight: 0.5}}, []*Clip{at(0.7)}},
		"over another":  {0.3, []PlayOptions{{Layer: 3}, {Layer: 1}}, []*Clip{at(0.3), at(0.9)}},
		"added":         {0.6, []PlayOptions{{Additive: true, Start: 0.5, Speed: 1e-6}}, []*Clip{rise}},
		"added by half": {0.35, []PlayOptions{{Additive: true, Weight: 0.5, Start: 0.5, Speed: 1e-6}}, []*Clip{rise}},
		"masked":        {0.1, []PlayOptions{{Mask: head}}, []*Clip{at(0.7)}},
	} {
		s := newStage(t, sk, func(float32) float32 { return 0.1 })
		for i, o := range c.play {
			o.In, o.Loop = -1, true
			must.Do(t, s.Play(0, c.clip[i], o))
		}
		s.step()
		if x, _ := s.step(); m3.Abs(x-c.want) > 1e-4 {
			t.Errorf("%s: %g, want %g", name, x, c.want)
		}
	}
	s := newStage(t, sk, func(float32) float32 { return 0.1 })
	must.Do(t, s.Play(0, rise, PlayOptions{In: -1, Hold: true}))
	for range 90 {
		s.step()
	}
	if x, _ := s.step(); m3.Abs(x-1.2) > 1e-3 {
		t.Errorf("held at %g, want 1.2", x)
	}
	must.Do(t, s.Change(0, 0, 0.5, 1))
	if x, _ := s.step(); m3.Abs(x-0.65) > 1e-3 {
		t.Errorf("held by half at %g, want 0.65", x)
	}
	must.Do(t, s.Stop(0, 0, -1))
	if x, _ := s.step(); m3.Abs(x-0.1) > 1e-6 {
		t.Errorf("stopped, at %g, want 0.1", x)
	}
}

// A player that is restored while a clip blends goes on with the same bits.
func TestStateGoesOn(t *testing.T) {
	sk := chain()
	base := func(s float32) float32 { return 0.3 * m3.Sin(3*s) }
	a, b := newStage(t, sk, base), newStage(t, sk, base)
	clip := clipOf(t, sk, 30, 20, func(s float32) float32 { return 1 + m3.Sin(5*s) }, Marker{"m", 0.5})
	must.Do(t, a.Play(0, clip, PlayOptions{Weight: 0.8, Hold: true}))
	for tick := range 60 {
		if tick == 45 {
			must.Do(t, a.Play(0, clip, PlayOptions{Layer: 2, Additive: true, Loop: true}))
		}
		var s generator.State
		a.State(&s, 0)
		s.Rewind()
		b.State(&s, 0)
		must.Do(t, s.Err())
		x, marks := a.step()
		if y, others := b.step(); x != y || !slices.Equal(marks, others) || a.hips != b.hips {
			t.Fatalf("tick %d: %g with %v, restored %g with %v", tick, x, marks, y, others)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	sk := chain()
	nan := float32(math.NaN())
	for want, change := range map[string]func(c *skel.Clip, o *ClipOptions){
		"frame 3, joint Spine": func(c *skel.Clip, o *ClipOptions) { c.Rot[10].X = nan },
		"frame 2, joint Hips":  func(c *skel.Clip, o *ClipOptions) { c.Pos[6].Y = float32(math.Inf(1)) },
		"unit quaternions":     func(c *skel.Clip, o *ClipOptions) { c.Rot[4] = m3.Quat{} },
		"metres":               func(c *skel.Clip, o *ClipOptions) { c.Pos[3].X = 1e6 },
		"frames per second":    func(c *skel.Clip, o *ClipOptions) { c.FPS = math.NaN() },
		"0 frames":             func(c *skel.Clip, o *ClipOptions) { c.Frames = 0 },
		"rotations for":        func(c *skel.Clip, o *ClipOptions) { c.Rot = c.Rot[1:] },
		"reference":            func(c *skel.Clip, o *ClipOptions) { o.Reference = 5 },
		`marker "m"`:           func(c *skel.Clip, o *ClipOptions) { o.Markers = []Marker{{"m", 5}} },
		`clip "wave"`:          func(c *skel.Clip, o *ClipOptions) { o.Name, c.Frames = "wave", -1 },
		"no joint Spine": func(c *skel.Clip, o *ClipOptions) {
			c.Skel = chain()
			c.Skel.Names[1] = "Tail"
		},
		"another parent": func(c *skel.Clip, o *ClipOptions) {
			c.Skel = chain()
			c.Skel.Parents[2] = 0
		},
		"0.20 m": func(c *skel.Clip, o *ClipOptions) {
			c.Skel = chain()
			c.Skel.Offsets[2].Y += 0.2
		},
	} {
		c, o := skel.NewClip(sk, 30, 5), ClipOptions{}
		change(c, &o)
		if _, err := New(sk, c, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
	if _, err := New(nil, nil, ClipOptions{}); err == nil {
		t.Error("nothing is a clip")
	}
	for _, err := range []error{second(UpperBody(sk)), second(Arms(nil)), second(Tail(sk)), second(Weighted(sk, []float32{0, 2, 0})), second(Joints(nil))} {
		if err == nil {
			t.Error("a mask of what is not there")
		}
	}
}

func second[A any](_ A, err error) error { return err }

// Joints are found by name: a clip may have others, and in another order.
func TestNewByName(t *testing.T) {
	sk := chain()
	of := &skel.Skeleton{Names: []string{"Prop", "Hips", "Spine", "Hat", "Head"}, Parents: []int16{-1, -1, 1, 2, 2},
		Offsets: []m3.Vec3{{}, {}, m3.V(0, 0.5, 0), {}, m3.V(0, 0.3, 0)}, EndSite: make([]bool, 5)}
	c := skel.NewClip(of, 30, 4)
	for f := range c.Frames {
		pos, rot := c.Frame(f)
		pos[1], rot[2], rot[4] = m3.V(0, 1.2, 0), pitch(0.3), pitch(0.4)
	}
	s := newStage(t, sk, func(float32) float32 { return 0 })
	must.Do(t, s.Play(0, must.Get(New(sk, c, ClipOptions{}))(t), PlayOptions{In: -1, Loop: true}))
	s.step()
	if x, _ := s.step(); m3.Abs(x-0.3) > 1e-4 || s.hips.Dist(m3.V(0, 1.2, 0)) > 1e-4 {
		t.Errorf("the spine is at %g, the hips at %v", x, s.hips)
	}
}

// A loop with root motion goes on and on, with the steps of its own frames.
func TestRootOfALoop(t *testing.T) {
	sk := chain()
	c := skel.NewClip(sk, 30, 31)
	for f := range c.Frames {
		pos, rot := c.Frame(f)
		yaw := float32(f) / 30 * 0.5
		pos[0], rot[0] = m3.V(2*m3.Sin(yaw), 1, 2-2*m3.Cos(yaw)), m3.YawQuat(math.Pi/2-yaw) // on a circle
	}
	clip := must.Get(New(sk, c, ClipOptions{}))(t)
	at, last := m3.Identity, 0.0
	var most, least float32 = 0, 1
	for tick := 1; tick <= 240; tick++ {
		now := float64(tick) * dt
		by := clip.root(last, true).Inv().Mul(clip.root(now, true))
		at, last = at.Mul(by), now
		most, least = max(most, by.Pos.Len()), min(least, by.Pos.Len())
	}
	if want := float32(2 * 0.5 * dt); most > want*1.25 || least < want*0.8 {
		t.Errorf("steps from %g to %g m, want %g", least, most, want)
	}
	if yaw := at.Rot.Yaw(); m3.Abs(m3.WrapAngle(yaw+4*0.5)) > 0.05 {
		t.Errorf("after four rounds it is turned by %g, want −2", yaw)
	}
}

func BenchmarkPose(b *testing.B) {
	sk := chain()
	for len(sk.Names) < 30 {
		sk.Names, sk.Parents = append(sk.Names, fmt.Sprint("joint", len(sk.Names))), append(sk.Parents, int16(len(sk.Names)-2))
		sk.Offsets, sk.EndSite = append(sk.Offsets, m3.V(0, 0.1, 0)), append(sk.EndSite, false)
	}
	clip := clipOf(b, sk, 30, 61, func(s float32) float32 { return m3.Sin(s) })
	rot := slices.Repeat([]m3.Quat{m3.Ident}, 30)
	for name, o := range map[string]PlayOptions{
		"playing": {Loop: true, In: -1, Speed: 0.9}, "fading": {Loop: true, In: MaxBlend, Speed: 0.9}, "additive": {Loop: true, In: -1, Additive: true, Speed: 0.9}, "none": {},
	} {
		b.Run(name, func(b *testing.B) {
			p := must.Get(NewPlayer(1, sk))(b)
			if name != "none" {
				must.Do(b, p.Play(0, clip, o))
			}
			var pos m3.Vec3
			i := 0
			for b.Loop() {
				if i++; i%3000 == 2999 && name == "fading" {
					must.Do(b, p.Play(0, clip, o))
				}
				p.Advance(0, dt, nil)
				p.Pose(0, &pos, rot, &Below{Root: m3.Identity, DT: dt})
			}
		})
	}
}
