package label

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/offline/dataset"
	"mannequin/offline/mocap"
	"mannequin/offline/procgen"
	"mannequin/offline/retarget"
)

// The actions of the dog's recordings are those of their authors' labels in at least 90 % of frames.
func TestRecordedDogs(t *testing.T) {
	dir := filepath.Join(mocapdata.Dir(t), "dog")
	var labels map[string]dataset.Labels
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(dir, dataset.LabelsFile)))(t), &labels))
	var clips []*skel.Clip
	names := slices.Sorted(maps.Keys(labels))
	for _, n := range names {
		clips = append(clips, must.Get(mocap.OpenBVH(filepath.Join(dir, n+".bvh")))(t).Clip.Scaled(0.01))
	}
	s := must.Get(NewStance(clips, must.Get(ik.DogRoles(clips[0].Skel.Names))(t)))(t)
	same, all := 0, 0
	shown := map[string]map[string]int{}
	for i, c := range clips {
		want := labels[names[i]].Actions()
		for f, a := range s.Actions(c, "") {
			if shown[want[f]] == nil {
				shown[want[f]] = map[string]int{}
			}
			shown[want[f]][a]++
			if all++; a == want[f] {
				same++
			}
		}
	}
	for _, a := range slices.Sorted(maps.Keys(shown)) {
		t.Logf("labelled %s: %v", a, shown[a])
	}
	share := float64(same) / float64(all)
	t.Logf("%.1f %% of %d frames agree", 100*share, all)
	if share < 0.9 {
		t.Errorf("%.1f %% of frames agree, want 90 %%", 100*share)
	}
	// Gallops are no jumps: what is left are the times before and after jumps.
	if n := shown[Move][Jump]; n > 200 {
		t.Errorf("%d frames of dogs that go are jumps", n)
	}
}

// Dogs that rules move show what their labels say.
func TestMadeDogs(t *testing.T) {
	takes := must.Get(procgen.Generate(procgen.Options{Minutes: 6}))(t)
	var clips []*skel.Clip
	for _, k := range takes {
		clips = append(clips, k.Clip)
	}
	s := must.Get(NewStance(clips, must.Get(ik.DogRoles(clips[0].Skel.Names))(t)))(t)
	same, all := 0, 0
	for _, k := range takes {
		want := k.Labels().Actions()
		for f, a := range s.Actions(k.Clip, "") {
			if all++; a == want[f] {
				same++
			}
		}
	}
	if share := float64(same) / float64(all); share < 0.85 {
		t.Errorf("%.1f %% of frames agree, want 85 %%", 100*share)
	}
}

// People of recordings do what the recordings' names say, walk and run.
func TestRecordedPeople(t *testing.T) {
	paths := must.Get(filepath.Glob(filepath.Join(mocapdata.Dir(t), "human-o3de", "bvh", "*.bvh")))(t)
	if len(paths) == 0 {
		t.Skip("the set human-o3de is not here")
	}
	var clips []*skel.Clip
	for _, p := range paths {
		clips = append(clips, must.Get(dataset.OpenStanding(p, feature.Human(), retarget.Human(), retarget.Reading{}))(t))
	}
	s := must.Get(NewStance(clips, must.Get(ik.HumanRoles(clips[0].Skel.Names))(t)))(t)
	speeds := [...]float64{1, 2.5} // of which people walk at the first and run at the second, m/s
	var frames, walked [len(speeds)]float64
	for i, c := range clips {
		name := filepath.Base(paths[i])
		count := map[string]int{}
		actions, p, walks, half := s.Actions(c, Named(name)), s.postures(c), s.Walks(c), int(c.FPS/2)
		for f, a := range actions {
			count[a]++
			if a != Move || f < half || f+half >= len(p) {
				continue
			}
			for k, v := range speeds {
				if m3.Abs(p[f+half].at.Dist(p[f-half].at)/float32(v)-1) < 0.1 {
					if frames[k]++; walks[f] {
						walked[k]++
					}
				}
			}
		}
		t.Log(name, count)
		share := func(action string) float64 { return float64(count[action]) / float64(c.Frames) }
		switch name {
		case "Crouching1.bvh":
			if share(Crouch) < 0.7 {
				t.Errorf("%s: people crouch in %.0f %% of frames", name, 100*share(Crouch))
			}
		case "Jumps1.bvh", "JumpsFreeRoam1.bvh":
			if share(Jump) < 0.02 {
				t.Errorf("%s: people jump in %.1f %% of frames", name, 100*share(Jump))
			}
		case "TurnOnSpot1.bvh":
			if share(Idle) < 0.5 {
				t.Errorf("%s: people stand in %.0f %% of frames", name, 100*share(Idle))
			}
		default:
			if share(Move)+share(Idle) < 0.97 {
				t.Errorf("%s: people go or stand in %.0f %% of frames", name, 100*(share(Move)+share(Idle)))
			}
		}
	}
	walk, run := walked[0]/frames[0], walked[1]/frames[1]
	t.Logf("%.2f of %.0f frames at %g m/s walk, %.2f of %.0f at %g m/s", walk, frames[0], speeds[0], run, frames[1], speeds[1])
	if walk < 0.7 || run > 0.05 {
		t.Errorf("%.2f of the frames at %g m/s walk, %.2f of those at %g m/s", walk, speeds[0], run, speeds[1])
	}
}

func TestNamed(t *testing.T) {
	for name, want := range map[string]string{
		"Walk_Fwd": Move, "walkFwd": Move, "CharacterArmature|Run": Move, "Armature|Gallop_Jump": Jump, "Sit.fbx": Sit, "SitDown": Sit,
		"Idle_02": Idle, "Idle_HitReact_Left": "hit", "Attack_Headbutt": "attack", "Death": "death", "Eating": "eat", "mixamo.com": "",
		"Jump_Full_Long": Jump, "Crouching1.bvh": Crouch, "Standing": Idle, "Rear": Stand, "D1_001_KAN01_001": "", "": "", "行走": "", "Swim_Fast": "swim",
		"Lie_StandUp": Lie, "Dodge_Left": "roll", "Running_Strafe_Right": Move, "take-003-sneak": Crouch, "Rest Pose": "pose", "T-Pose": "pose", "A_TPose": "pose", "Resting": "",
		"Melee_Blocking": "block", "Spellcast_Raise": "attack", "Crawling": "crawl",
	} {
		if got := Named(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestSays(t *testing.T) {
	if !Known(Stand) || !Known("attack") || Known("walk") || Known("") {
		t.Error("an action is not known, or a word is one")
	}
	if !Says("Running_HoldingBow", Move) || Says("Melee_Chop", Move) || Says("Running", "nothing") || !Says("Jump_Idle", Idle) {
		t.Error("a word of a name is not found, or one that it has not")
	}
}

// Clips without frames, of other joints or below the floor are refused.
func TestStanceRefuses(t *testing.T) {
	sk := procgen.Skeleton()
	roles := must.Get(ik.DogRoles(sk.Names))(t)
	other := *sk
	other.Names = slices.Clone(sk.Names)
	other.Names[1] = "x"
	low := skel.NewClip(sk, 60, 3)
	for i := 0; i < len(low.Pos); i += sk.Len() {
		low.Pos[i].Y = -1
	}
	for want, clips := range map[string][]*skel.Clip{
		"no frames":    {skel.NewClip(sk, 60, 0)},
		"other joints": {skel.NewClip(sk, 60, 3), skel.NewClip(&other, 60, 3)},
		"floor":        {low},
	} {
		_, err := NewStance(clips, roles)
		must.FailWith(t, err, want)
	}
	_, err := NewStance([]*skel.Clip{skel.NewClip(sk, 60, 3)}, ik.Roles{})
	must.FailWith(t, err, "Roles.Spine")
}
