package procgen

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// some returns takes of every kind, made once.
func some(t *testing.T) []*Take {
	t.Helper()
	if made == nil {
		made = must.Get(Generate(Options{Minutes: 5, Seed: 2}))(t)
	}
	return made
}

var made []*Take

// Paws on the ground do not move, no joint is below it, and bones keep their lengths.
func TestPawsStand(t *testing.T) {
	sk := Skeleton()
	planted := 0
	for _, tk := range some(t) {
		pos := positions(tk)
		for f := 1; f < len(pos); f++ {
			for leg, j := range tips {
				a, b := pos[f-1][j], pos[f][j]
				if b.Y < -1e-4 {
					t.Fatalf("%s frame %d: paw %d is %g m below the ground", tk.Name, f, leg, -b.Y)
				}
				// Within 0.1 mm of the ground.
				if a.Y < 1e-4 && b.Y < 1e-4 {
					planted++
					if d := b.Sub(a).Flat().Len(); d > 1e-4 {
						t.Fatalf("%s frame %d: paw %d slides by %g m", tk.Name, f, leg, d)
					}
				}
			}
			for j, p := range pos[f] {
				if p.Y < -1e-3 {
					t.Fatalf("%s frame %d: %s is %g m below the ground", tk.Name, f, sk.Names[j], -p.Y)
				}
				if q := sk.Parents[j]; q >= 0 {
					if d := p.Dist(pos[f][q]) - sk.Offsets[j].Len(); m3.Abs(d) > 1e-5 {
						t.Fatalf("%s frame %d: the bone to %s is %g m too long", tk.Name, f, sk.Names[j], d)
					}
				}
			}
		}
	}
	if frames := 5 * 60 * fps; planted < frames*numLegs/2 {
		t.Errorf("paws stand in only %d of %d leg frames", planted, frames*numLegs)
	}
}

// jerkOfRecordings is the 99.9 percentile of the jerk of all joints, as third
// differences at 60 Hz, in the 39 recordings of Zhang, Starke et al., m/s³.
const jerkOfRecordings = 7388

// The motion is smooth: its 99.9 percentile of jerk is below the recordings',
// and its largest no more than twice that.
func TestSmooth(t *testing.T) {
	var all []float64
	for _, tk := range some(t) {
		pos := positions(tk)
		for f := 3; f < len(pos); f++ {
			for j := range numJoints {
				d := pos[f][j].Sub(pos[f-1][j].Scale(3)).Add(pos[f-2][j].Scale(3)).Sub(pos[f-3][j])
				v := float64(d.Len()) * fps * fps * fps
				if all = append(all, v); v > 2*jerkOfRecordings {
					t.Fatalf("%s frame %d: %s jerks with %.0f m/s³", tk.Name, f, tk.Clip.Skel.Names[j], v)
				}
			}
		}
	}
	slices.Sort(all)
	if v := all[len(all)*999/1000]; v > jerkOfRecordings {
		t.Errorf("99.9 %% of the jerks are up to %.0f m/s³", v)
	}
}

// Elbows and hocks bend backward, knees forward, and no leg is straight while
// the animal goes about on four legs.
func TestLegsBendLikeADogs(t *testing.T) {
	for _, tk := range some(t) {
		pos := positions(tk)
		for _, part := range tk.Parts {
			if part.Name == "jump" || part.Name == "stand" || part.Name == "sit" || part.Name == "lie" {
				continue
			}
			for f := part.From; f < part.To; f++ {
				p := &pos[f]
				ahead := p[neck].Sub(p[hips]).Flat().Normalize(m3.V(0, 0, 1))
				// bend is how far joint b is ahead of the line from a to c, and the angle there.
				bend := func(a, b, c int) (off, angle float64) {
					u, v := p[a].Sub(p[b]), p[c].Sub(p[b])
					s := p[b].Sub(p[a]).Dot(p[c].Sub(p[a])) / p[c].Sub(p[a]).Dot(p[c].Sub(p[a]))
					line := p[a].Lerp(p[c], s)
					return float64(p[b].Sub(line).Dot(ahead)), math.Acos(float64(u.Dot(v) / (u.Len() * v.Len())))
				}
				for side := range 2 {
					arm, thigh := leftArm+side*(rightArm-leftArm), leftUpLeg+side*(rightUpLeg-leftUpLeg)
					for _, c := range []struct {
						name string
						a    int
						sign float64
					}{{"elbow", arm, -1}, {"knee", thigh, 1}, {"hock", thigh + 1, -1}} {
						off, angle := bend(c.a, c.a+1, c.a+2)
						if off*c.sign < 0 {
							t.Fatalf("%s frame %d: the %s bends the wrong way by %.3f m", tk.Name, f, c.name, off)
						}
						if angle > 176*math.Pi/180 {
							t.Fatalf("%s frame %d: the %s is straight: %.0f°", tk.Name, f, c.name, angle*180/math.Pi)
						}
					}
				}
			}
		}
	}
}

// Every action looks like itself.
func TestActions(t *testing.T) {
	seen := map[string]int{}
	for _, tk := range some(t) {
		pos := positions(tk)
		for _, part := range tk.Parts {
			seen[part.Name]++
			for f := part.From + 6; f < part.To-6; f++ {
				p := &pos[f]
				hip, chest := float64(p[hips].Y), float64(p[neck].Y)
				down := 0
				for leg := range numLegs {
					if stands(pos, leg, f) {
						down++
					}
				}
				var ok bool
				switch part.Name {
				case "sit":
					ok = hip < 0.24 && chest > 0.4 && down == 4 && p[leftFoot].Y < 0.06 && p[rightFoot].Y < 0.06
				case "lie":
					ok = hip < 0.24 && chest < 0.32 && down == 4 && p[leftForeArm].Y < 0.12 && p[leftFoot].Y < 0.06
				case "stand":
					ok = hip > 0.38 && chest > 0.75 && p[leftHandSite].Y > 0.3 && p[rightHandSite].Y > 0.3 && stands(pos, leftHind, f) && stands(pos, rightHind, f)
				case "idle":
					ok = down >= 2 && hip > 0.42 && chest > 0.42
				case "jump":
					ok = true
				default:
					ok = hip > 0.36 && chest > 0.36
				}
				if !ok {
					t.Fatalf("%s frame %d: %s with hips at %.2f m, neck at %.2f m, %d paws down", tk.Name, f, part.Name, hip, chest, down)
				}
			}
		}
	}
	for _, name := range []string{"idle", "walk", "pace", "trot", "canter", "sit", "lie", "stand", "jump"} {
		if seen[name] == 0 {
			t.Errorf("no %s", name)
		}
	}
}

// In a jump all paws leave the ground, and the trunk falls freely.
func TestJumpIsBallistic(t *testing.T) {
	for seed := range uint64(4) {
		tl := newTimeline(rand.New(rand.NewPCG(seed, 3)), "Idle")
		tl.move("trot", 2, 0, 0, 1)
		height := 0.12 + 0.03*float64(seed)
		tl.jump(2.4, height)
		tl.move("trot", 2, 0, 0, 1)
		pos := positions(tl.finish("jump"))
		from, to := 0, 0 // the longest flight
		for f, start := 1, 1; f < len(pos); f++ {
			for leg := range numLegs {
				if stands(pos, leg, f) {
					start = f + 1
				}
			}
			if f-start > to-from {
				from, to = start, f
			}
		}
		air := float64(to-from) / fps
		if want := 2 * math.Sqrt(2*height/gravity); math.Abs(air-want) > 0.1 {
			t.Errorf("a jump of %.2f m takes %.2f s, want about %.2f", height, air, want)
		}
		// The middle of the trunk, over the middle of the flight.
		y := func(f int) float64 { return float64(pos[f][hips].Y+pos[f][neck].Y) / 2 }
		mid, h := (from+to)/2, (to-from)/4
		g := -(y(mid-h) - 2*y(mid) + y(mid+h)) * fps * fps / float64(h*h)
		if math.Abs(g-gravity) > 1.5 {
			t.Errorf("the trunk falls with %.1f m/s²", g)
		}
	}
}

// A dog without a paw on the ground falls. It does not hover before or after a leap.
func TestNobodyHovers(t *testing.T) {
	const long = fps / 4 // frames; what a canter's flight takes is less
	flights := 0
	for seed := range uint64(4) {
		tl := newTimeline(rand.New(rand.NewPCG(seed, 17)), "Idle")
		for range 4 {
			jumpRound(tl)
		}
		pos := positions(tl.finish("jumps"))
		for f, start := 1, 1; f < len(pos); f++ {
			landed := false
			for leg, tip := range tips {
				landed = landed || stands(pos, leg, f) || pos[f][tip].Y < 0.004
			}
			if !landed {
				continue
			}
			if n := f - start; n > long {
				flights++
				y := func(f int) float64 { return float64(pos[f][hips].Y+pos[f][neck].Y) / 2 }
				mid, h := (start+f)/2, n/3
				if g := -(y(mid-h) - 2*y(mid) + y(mid+h)) * fps * fps / float64(h*h); g < gravity/2 {
					t.Errorf("seed %d: %.2f s in the air at %.2f s, falling with %.1f m/s²", seed, float64(n)/fps, float64(start)/fps, g)
				}
			}
			start = f + 1
		}
	}
	if flights < 12 {
		t.Errorf("only %d leaps", flights)
	}
}

// Turns go to both sides at every gait, on the spot too, and so do steps aside.
func TestBothSides(t *testing.T) {
	for _, c := range []struct {
		name              string
		ahead, side, turn float64
	}{
		{"walk", 0, 0, 1}, {"walk", 0.5, 0, 0.9}, {"pace", 1.1, 0, 0.8}, {"trot", 1.9, 0, 0.7}, {"canter", 3, 0, 0.5},
		{"walk", 0, 0.35, 0}, {"walk", -0.4, 0, 0},
	} {
		for _, sign := range []float64{1, -1} {
			tl := newTimeline(rand.New(rand.NewPCG(5, 6)), "Idle")
			if c.name == "canter" {
				tl.move("trot", 2.3, 0, 0, 0.3)
			}
			tl.move(c.name, c.ahead, sign*c.side, sign*c.turn, 3)
			tk := tl.finish("turn")
			pos, part := positions(tk), tk.Parts[len(tk.Parts)-1]
			yaw := func(f int) float64 { return float64(m3.YawOf(pos[f][neck].Sub(pos[f][hips]))) }
			var turned float64
			for f := part.From + 1; f < part.To; f++ {
				turned += wrapAngle(yaw(f) - yaw(f-1))
			}
			seconds := float64(part.To-part.From) / fps
			if want := sign * c.turn * seconds; math.Abs(turned-want) > 0.15*math.Abs(want)+0.1 {
				t.Errorf("%+v turns by %.2f rad, want %.2f", c, turned, want)
			}
			d := pos[part.To-1][hips].Sub(pos[part.From][hips])
			if c.turn == 0 {
				to := m3.YawQuat(float32(-yaw(part.From))).Rotate(d)
				if math.Abs(float64(to.X)/seconds-sign*c.side) > 0.06 || math.Abs(float64(to.Z)/seconds-c.ahead) > 0.06 {
					t.Errorf("%+v goes by %v in %.1f s", c, to, seconds)
				}
			}
		}
	}
}

// Labels cover each clip without gap or overlap, in the words of labels.json.
func TestLabelsCover(t *testing.T) {
	for _, tk := range some(t) {
		e := tk.Labels()
		count := make([]int, e.Frames)
		for name, ranges := range e.Segments {
			if !slices.Contains([]string{"Idle", "Walk", "Jump", "Sit", "Lie", "Stand"}, name) {
				t.Errorf("%s: label %q", tk.Name, name)
			}
			for _, r := range ranges {
				for f := r[0]; f <= r[1]; f++ {
					count[f]++
				}
			}
		}
		if i := slices.IndexFunc(count, func(n int) bool { return n != 1 }); i >= 0 {
			t.Errorf("%s: frame %d has %d labels", tk.Name, i, count[i])
		}
		if k, _, _ := strings.Cut(tk.Name, "_"); k == "sit" && len(e.Segments["Sit"]) == 0 {
			t.Errorf("%s has no Sit", tk.Name)
		}
	}
}

// A dog labelled idle stands, or has nearly stopped.
func TestIdleStands(t *testing.T) {
	for seed := range uint64(4) {
		tl := newTimeline(rand.New(rand.NewPCG(seed, 19)), "Idle")
		tl.idle(1)
		tl.jump(1.7, 0.15)
		tl.halt()
		tl.idle(1)
		tk := tl.finish("jump")
		pos := positions(tk)
		for _, r := range tk.Labels().Segments["Idle"] {
			for f := max(r[0], 1); f <= r[1]; f++ {
				if v := pos[f][hips].Sub(pos[f-1][hips]).Flat().Len() * fps; v > 0.8 {
					t.Fatalf("seed %d frame %d: idle at %.2f m/s", seed, f, v)
				}
			}
		}
	}
}

// The kinds' shares are a whole.
func TestShares(t *testing.T) {
	sum := 0
	for _, k := range kinds {
		sum += k.share
	}
	if sum != 100 {
		t.Errorf("shares add up to %d", sum)
	}
}

// The trunk stays within reach of every standing paw.
func TestStandingLegsReach(t *testing.T) {
	p := standing()
	var worst [2]float64
	for _, tk := range some(t) {
		pos := positions(tk)
		for _, part := range tk.Parts {
			if part.Name == "sit" || part.Name == "lie" || part.Name == "stand" || part.Name == "jump" {
				continue
			}
			for f := part.From; f < part.To; f++ {
				for leg, tip := range tips {
					if !stands(pos, leg, f) {
						continue
					}
					root, reach, i := leftArm+leg*(rightArm-leftArm), foreReach(p[wristBend]), 0
					if !isFore(leg) {
						root, reach, i = leftUpLeg+(leg-leftHind)*(rightUpLeg-leftUpLeg), hindReach(p[hockBend]), 1
					}
					d := float64(pos[f][root].Dist(pos[f][tip])) / reach
					if worst[i] = max(worst[i], d); d > legStretch+0.003 {
						t.Fatalf("%s frame %d: leg %d stands with %.3f of its length", tk.Name, f, leg, d)
					}
				}
			}
		}
	}
	t.Logf("stretched to %.3f (fore), %.3f (hind)", worst[0], worst[1])
}

// In every style nothing goes into the ground on the way down and up.
func TestGroundIsSolid(t *testing.T) {
	for seed := range uint64(12) {
		tl := newTimeline(rand.New(rand.NewPCG(seed, 13)), "Idle")
		tl.style.tail = rad(-14)
		tl.actionRound(tl.sit)
		tl.actionRound(tl.lie)
		for f, p := range positions(tl.finish("down")) {
			for j := range p {
				if p[j].Y < -1e-3 {
					t.Fatalf("seed %d frame %d: joint %d is %.3f m below the ground", seed, f, j, -p[j].Y)
				}
			}
		}
	}
}
