package animsys_test

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/animsys/layer"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/models/dog"
	"mannequin/models/person"
	"mannequin/offline/retarget"
)

// recordedPersonJerk is the 99.9th percentile of the jerk of all joints of every eighth of CMU's recordings
// of people who walk and run, on our skeleton, m/s³: TestRecordedPersonJerk measures it. Of all of them it
// is 21749: some recordings have faults.
const recordedPersonJerk = 14302

// The constant is the recordings'.
func TestRecordedPersonJerk(t *testing.T) {
	files := must.Get(filepath.Glob(filepath.Join(mocapdata.Dir(t), "cmu-locomotion", "*")))(t)
	var all []float64
	for i, path := range files {
		if i%8 != 0 {
			continue
		}
		clip, _, err := retarget.Open(path, retarget.OpenOptions{FPS: 60})
		if err != nil {
			continue // a notice
		}
		var k jerk
		pose := make([]m3.Xform, clip.Skel.Len())
		for f := range clip.Frames {
			clip.Model(pose, f)
			k.add(pose, func(v float64) { all = append(all, v) })
		}
	}
	slices.Sort(all)
	if got := all[len(all)*999/1000]; math.Abs(got/recordedPersonJerk-1) > 0.01 {
		t.Errorf("99.9 %% of the recorded jerk is below %.0f m/s³, not %d", got, recordedPersonJerk)
	}
}

// While people walk and wave, and dogs trot and shake their heads, no joint has more than twice the jerk of
// recorded ones, and no joint that the clip plays on has more than once: neither where the clip begins, nor
// where it is ended, nor in between.
func TestClipJerk(t *testing.T) {
	walkers, circle := must.Get(person.Open())(t), must.Get(control.Circle(5))(t)
	dogs := must.Get(mann.NewModel(must.Get(dog.Open())(t)))(t)
	for _, k := range []struct {
		kind
		most float64
	}{
		{kindOf(t, "people", func(n, workers int) (generator.Generator[manifold.Curve], error) {
			return walkers.NewStream(manifold.StreamOptions{Capacity: n, Batch: n, Workers: workers})
		}, func(i, tick int) manifold.Curve { return manifold.Curve{Path: circle, Start: float32(i), Speed: 1.4} }), recordedPersonJerk},
		{kindOf(t, "dogs", func(n, workers int) (generator.Generator[control.Goal], error) {
			return dogs.NewController(mann.ControllerOptions{Capacity: n, Workers: workers})
		}, func(i, tick int) control.Goal {
			return control.Goal{Move: m3.V(0, 0, 1), Turn: 0.1 * float32(i), Speed: control.TrotSpeed, Action: control.Move}
		}), recordedJerk},
	} {
		t.Run(k.name, func(t *testing.T) {
			const n = 4
			s := k.scene(t, n, 2)
			all := s.run(200, numbers(n)...)
			clip, mask := gesture(t, s.people.Skel, 1.4)
			jerks, most, ours := make([]jerk, n), 0.0, 0.0
			for tick := 200; tick < 900; tick++ {
				for i, e := range all {
					switch (tick + 37*i) % 180 {
					case 0:
						must.Do(t, s.people.Play(e, clip, layer.PlayOptions{Mask: mask, Loop: i%2 == 0}))
					case 20:
						if i == 2 { // while it blends in
							must.Do(t, s.people.Stop(e, 0, 0))
						}
					case 70:
						must.Do(t, s.people.Stop(e, 0, 0))
					}
				}
				s.play(all, numbers(n), tick, tick+1, nil)
				for i, e := range all {
					j := -1
					v, worst := jerks[i].add(s.bones(e), func(v float64) {
						if j++; mask.Weights()[j] > 0 {
							ours = max(ours, v)
						}
					})
					most = max(most, v)
					if v > 2*k.most {
						t.Errorf("tick %d of agent %d: %s has a jerk of %.0f m/s³", (tick+37*i)%180, i, s.people.Skel.Names[worst], v)
					}
				}
			}
			if ours > k.most {
				t.Errorf("a joint that the clip plays on has a jerk of %.0f m/s³", ours)
			}
			t.Logf("jerk up to %.0f m/s³, %.2f times the recordings' 99.9th percentile; of what the clip plays on up to %.0f", most, most/k.most, ours)
		})
	}
}
