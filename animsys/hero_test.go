package animsys_test

import (
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/layer"
	"mannequin/animsys/matching"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	herofile "mannequin/models/hero"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// A player's person does all at the same time: it walks at its speed in a style of each kind, looks aside, keeps a hand at a place, and plays a clip on
// its other arm.
func TestHeroDoesAllAtOnce(t *testing.T) {
	file := must.Get(herofile.Open())(t)
	run := func(all, styled bool) (off, turned, speed float32, poses [][]m3.Xform) {
		w := arche.NewWorld()
		stream := must.Get(file.NewStream(matching.StreamOptions{Capacity: 1}))(t)
		opt := animsys.Options{Ground: ik.Level(0)}
		withStyles(t)(&opt)
		withTransfers(t)(&opt)
		crowd := must.Get(animsys.NewCrowd(&w, stream, opt))(t)
		defer crowd.Close()
		schedule := must.Get(ecs.NewSchedule(&w, 1.0/animsys.TickRate, animsys.Systems()...))(t)
		e := must.Get(crowd.Spawn(m3.Vec3{}, 0))(t)
		goals := generic.NewMap1[control.Goal](&w)
		looks, reaches, moods := generic.NewMap1[ecs.LookAt](&w), generic.NewMap1[ecs.Reach](&w), generic.NewMap1[ecs.MARStyle](&w)
		grams := generic.NewMap1[ecs.GramStyle](&w)
		clip, mask := gesture(t, crowd.Skel, 0.7)
		if all {
			looks.Add(e)
			reaches.Add(e)
			style := ecs.MARStyle{}
			if styled {
				style.Weights[indexOf(t, "proud")] = 1
			}
			moods.Assign(e, &style)
			if styled {
				grams.Assign(e, &ecs.GramStyle{Style: transferOf(t, "stooped"), Weight: 1})
			}
			must.Do(t, crowd.Play(e, clip, layer.PlayOptions{Mask: mask, Loop: true, In: 0.2}))
		}
		const settle, ticks = 2 * animsys.TickRate, 5 * animsys.TickRate
		hand, head := crowd.Skel.Index("LeftHandIndex1"), crowd.Skel.Index("Head")
		from := m3.Vec3{}
		for tick := range ticks {
			*goals.Get(e) = control.Goal{Move: m3.V(0, 0, 1), Speed: 1.3}
			root := crowd.Root(e)
			place, seen := root.Apply(m3.V(0.25, 1.25, 0.35)), root.Apply(m3.V(3, 1.6, 3))
			if all {
				*reaches.Get(e) = ecs.Reach{Left: ecs.Hand{Target: place, Weight: 1}}
				*looks.Get(e) = ecs.LookAt{Target: seen, Weight: 1}
			}
			must.Do(t, schedule.Step())
			if tick == settle {
				from = crowd.Root(e).Pos
			}
			if bones := crowd.Bones(e); tick > settle {
				off = max(off, bones[hand].Pos.Dist(place))
				way := bones[head].Rot.Forward().Flat()
				turned += m3.YawOf(crowd.Root(e).Rot.Conj().Rotate(way)) / (ticks - settle)
				poses = append(poses, append([]m3.Xform(nil), bones...))
			}
		}
		return off, turned, crowd.Root(e).Pos.Dist(from) / ((ticks - settle) / animsys.TickRate), poses
	}
	off, turned, speed, poses := run(true, true)
	_, plainTurned, _, _ := run(false, false)
	_, _, _, plain := run(true, false)
	if off > 0.06 { // where the body was a tick before
		t.Errorf("the hand is up to %.3f m off its place", off)
	}
	if turned-plainTurned < 0.4 {
		t.Errorf("the head is turned by %.2f rad, without a look by %.2f", turned, plainTurned)
	}
	if m3.Abs(speed-1.3) > 0.13 {
		t.Errorf("it goes %.2f m/s", speed)
	}
	var style, stoop float32
	neck := file.Character().Skel.Index("Neck1")
	for i := range poses {
		style += poses[i][0].Rot.Angle(plain[i][0].Rot) / float32(len(poses))
		stoop += (plain[i][neck].Pos.Y - poses[i][neck].Pos.Y) / float32(len(poses))
	}
	if stoop < 0.03 {
		t.Errorf("the stooped neck is %.3f m lower", stoop)
	}
	if style < 0.02 {
		t.Errorf("the style turns the hips by %.3f rad", style)
	}
}
