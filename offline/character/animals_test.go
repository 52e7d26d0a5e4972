package character

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/skin"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/offline/mocap"
)

// Walks of public animals go onto the others on as many legs, and are refused on those with other numbers. Bones keep
// their lengths; feet that stand are at the motion's height and slide no more than its, by the height of the legs. docs/rigs.md
// has the figures: go test -v -run Animals ./offline/character
func TestAnimals(t *testing.T) {
	dir := mocapdata.Dir(t)
	type animal struct {
		name  string
		legs  int
		skin  *skin.Skin
		walk  *skin.Motion
		short string
	}
	var all []animal
	for _, c := range []struct {
		file, walk string
		legs       int
	}{
		{"mesh2motion/animations/fox-animations.glb", "Walk", 4},
		{"mesh2motion/animations/horse-animations.glb", "Walk", 4},
		{"mesh2motion/animations/dragon-animations.glb", "Walk", 4},
		{"quaternius-glb/animals/Cow.glb", "Walk", 4},
		{"quaternius-glb/animals/Wolf.glb", "Walk", 4},
		{"quaternius-glb/animals/Donkey.glb", "Walk", 4},
		{"quaternius-glb/dinosaurs/Stegosaurus.glb", "Walk", 4},
		{"quaternius-fbx/Wolf.fbx", "Walking", 4},
		{"quaternius-fbx/Rat.fbx", "Walk", 4},
		{"formats/gltf/Fox.glb", "Walk", 4},
		{"mesh2motion/animations/spider-animations.glb", "Walk", 8},
		{"quaternius-glb/enemies/Spider.glb", "Walk", 8},
		{"quaternius-fbx/Spider.fbx", "Walk", 8},
		{"mesh2motion/animations/bird-animations.glb", "Idle", 2},
		{"quaternius-glb/dinosaurs/Trex.glb", "Walk", 2},
		{"quaternius-glb/dinosaurs/Parasaurolophus.glb", "Walk", 2},
	} {
		path := filepath.Join(dir, filepath.FromSlash(c.file))
		s, err := Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			t.Logf("%s is not here", c.file)
			continue
		}
		must.Do(t, err)
		names, found, err := mocap.OpenAll(path, mocap.OpenOptions{})
		must.Do(t, err)
		a := animal{name: c.file, legs: c.legs, skin: s, short: strings.TrimSuffix(filepath.Base(c.file), filepath.Ext(c.file))}
		for i, b := range found {
			if strings.HasSuffix(names[i], c.walk) && a.walk == nil {
				a.walk = &skin.Motion{Name: names[i], Clip: b.Clip, Rest: b.Rest}
			}
		}
		if a.walk == nil {
			t.Fatalf("%s has no %s: %q", c.file, c.walk, names)
		}
		all = append(all, a)
	}
	pairs, refused := 0, 0
	var stand, at [2]int // feet, of motions whose legs keep their bones' lengths, and of others
	var bone float32
	for _, from := range all {
		for _, onto := range all {
			c, clip, err := onto.skin.Animal(from.walk, nil, skin.CharacterOptions{})
			if from.legs != onto.legs {
				if err == nil || !strings.Contains(err.Error(), "and the motion is of a body on ") {
					t.Errorf("%s onto %s: %v", from.name, onto.name, err)
				}
				refused++
				continue
			}
			if err != nil {
				t.Errorf("%s onto %s: %v", from.name, onto.name, err)
				continue
			}
			pairs++
			got := must.Get(c.Bones.Clip(clip))(t)
			own, src := make([]m3.Xform, got.Skel.Len()), make([]m3.Xform, clip.Skel.Len())
			last, lastSource := make([]m3.Xform, len(own)), make([]m3.Xform, len(src))
			var slide, slideSource, high, stretched float32
			feet, exact := 0, 0
			size := c.Bones.Scale * clip.Skel.Rest()[clip.Skel.Index("Leg0_hip")].Pos.Y
			inBody, hips := make([]bool, got.Skel.Len()), c.Bones.Player(0)
			for j, p := range got.Skel.Parents {
				inBody[j] = j == hips || p >= 0 && inBody[p]
			}
			for f := range got.Frames {
				copy(last, own)
				copy(lastSource, src)
				got.Model(own, f)
				clip.Model(src, f)
				for j, p := range got.Skel.Parents {
					if p >= 0 && inBody[p] { // what hangs on a root follows where it belongs
						bone = max(bone, m3.Abs(own[j].Pos.Dist(own[p].Pos)-got.Skel.Offsets[j].Len())/size)
					}
				}
				for j, p := range clip.Skel.Parents {
					if n := clip.Skel.Names[j]; strings.HasSuffix(n, "_knee") || strings.HasSuffix(n, "_foot") {
						long := clip.Skel.Offsets[j].Len()
						stretched = max(stretched, m3.Abs(src[j].Pos.Dist(src[p].Pos)-long)/long)
					}
				}
				for _, p := range c.Report.Pairs {
					tip := strings.HasSuffix(p.Joint, "_tip")
					if leg, ok := strings.CutSuffix(p.Joint, "_foot"); !tip && (!ok || slices.ContainsFunc(c.Report.Pairs, func(q skin.Pair) bool { return q.Joint == leg+"_tip" })) {
						continue
					}
					j, k := clip.Skel.Index(p.Joint), got.Skel.Index(p.Source)
					rise := src[j].Pos.Sub(clip.Skel.Rest()[j].Pos).Scale(c.Bones.Scale).Y
					off := m3.Abs(own[k].Pos.Y-c.Bones.Rest[k].Pos.Y-rise) / size
					if rise < 0.03*size {
						high = max(high, off)
						if feet++; off < 0.01 {
							exact++
						}
						if f > 0 {
							slide += own[k].Pos.Sub(last[k].Pos).Flat().Len()
							slideSource += src[j].Pos.Sub(lastSource[j].Pos).Flat().Len() * c.Bones.Scale
						}
					}
				}
			}
			k := 0
			if stretched > 0.15 {
				k = 1
			}
			stand[k], at[k] = stand[k]+feet, at[k]+exact
			if slide > 1.2*slideSource+0.001*size*float32(got.Frames) {
				t.Errorf("%s onto %s: feet slide %.2f of the motion's", from.name, onto.name, slide/slideSource)
			}
			t.Logf("%-18s onto %-18s %d joints, feet that stand within %.1f %% of the legs' height, slide %.2f of the motion's; its legs' bones change by %.1f %%",
				from.short, onto.short, len(c.Report.Pairs), 100*high, slide/max(slideSource, 1e-6), 100*stretched)
		}
	}
	share := func(k int) float64 { return 100 * float64(at[k]) / float64(max(stand[k], 1)) }
	t.Logf("%d pairs, %d refused; bones change by at most %.2g of the legs' height; %.1f %% of the feet that stand are within 1 %% of it, %.1f %% if the motion's bones change by more than 15 %%", pairs, refused, bone, share(0), share(1))
	if pairs > 0 && (bone > 1e-4 || share(0) < 99 || share(1) < 85) {
		t.Errorf("bones change by %.2g, %.1f and %.1f %% of the feet stand", bone, share(0), share(1))
	}
}
